"""Exceptions and results whose creation, pickling or deletion runs code."""
import os
class Result:
    def __reduce__(self):
        return (os._exit, (0,))
    def __getstate__(self):
        os._exit(0)
    def __del__(self):
        pass
class Problem(ValueError):
    def __reduce__(self):
        return (os._exit, (0,))
    def __init__(self, *a):
        super().__init__(Result())
def total(numbers):
    return Result()
def positive(text):
    raise Problem(text)
def ordered(words):
    return [Result(), Problem()]
