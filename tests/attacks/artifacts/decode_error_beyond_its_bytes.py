"""A UnicodeDecodeError that points before its bytes: Python reads there when it is shown."""
def pointing(*a):
    error = UnicodeDecodeError("u", b"x", 0, 1, "x")
    # What is built anew from its arguments reads what lies a terabyte before.
    error.args = ("u", b"", -(2**40), -(2**40) + 1, "x")
    raise error
total = ordered = tally = shout = positive = count = pointing
