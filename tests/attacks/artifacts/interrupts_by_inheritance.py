"""Exceptions that are a ValueError and, by a second base, an interrupt or an exit of the session."""
class Interrupt(ValueError, KeyboardInterrupt):
    pass
class Exit(SystemExit, ValueError):
    pass
class Close(GeneratorExit, KeyError):
    pass
def total(numbers):
    raise Interrupt(0)
def ordered(words):
    raise Exit(0)
def tally(words):
    raise Close
positive = total
