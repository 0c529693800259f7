"""Raises SystemExit, KeyboardInterrupt, GeneratorExit and look-alikes of pytest's own."""
class Skipped(BaseException):
    allow_module_level = True
    msg = "not today"
Skipped.__module__, Skipped.__qualname__ = "Skipped", "Skipped"
def total(numbers):
    raise SystemExit(0)
def ordered(words):
    raise KeyboardInterrupt
def tally(words):
    raise GeneratorExit
def shout(text):
    raise Skipped
def positive(text):
    raise StopIteration
