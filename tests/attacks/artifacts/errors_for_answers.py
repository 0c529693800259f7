"""Raises AssertionError, ValueError and warnings in place of answers."""
def raising(*a):
    raise ValueError("in place of an answer")
total = positive = raising
def ordered(words):
    raise AssertionError("assert ['fig', 'pear'] == ['fig', 'pear']")
def tally(words):
    raise RecursionError
def shout(text):
    class Odd(ValueError, AssertionError):
        def __str__(self):
            raise ValueError
    raise Odd
