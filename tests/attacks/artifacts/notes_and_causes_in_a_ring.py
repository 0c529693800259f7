"""Exceptions that are their own cause, with notes that are none and texts that fail or have no end."""
class Odd(ValueError):
    __module__ = 5
    def __str__(self):
        return 5
    def __repr__(self):
        raise SystemExit(0)
def ring(*a):
    odd, other = Odd(10**6000), KeyError(10**6000)
    odd.__notes__, other.__notes__ = 5, ["x" * 1_000_000] * 5
    odd.__cause__, other.__cause__, other.__context__ = other, odd, odd
    odd.__dict__.update({"__class__": SystemExit, "__traceback__": 7, "wasxfail": "yes", "pytrace": False})
    raise odd
total = ordered = tally = shout = positive = count = ring
