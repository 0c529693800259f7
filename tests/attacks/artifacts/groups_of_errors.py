"""Groups of exceptions, deep, wide, and with skips, exits and errors that cannot be shown inside."""
import unittest
def total(numbers):
    error = ValueError("inmost")
    for _ in range(60):
        error = ExceptionGroup("deep", [error])
    raise error
def ordered(words):
    error = ValueError("inmost")
    for _ in range(12):
        error = ExceptionGroup("wide", [error, error])
    raise error
def tally(words):
    raise ExceptionGroup("odd" * 300_000, [SyntaxError("odd", ("f", "x", "a", 5)), unittest.SkipTest("not today")])
def shout(text):
    raise BaseExceptionGroup("exits", [SystemExit(0), KeyboardInterrupt()])
positive = tally
