"""SyntaxErrors whose line, offset and text make traceback and pytest fail while they show them."""

DETAILS = [
    ("f", None, "a", "text"),
    ("f", "x", "a", 5),
    ("f", 1, -5, "abc", 1, "q"),
    ("f", 1, 10**30, "abc", 1, 2),
    ("f", 1, 1, "wide", 1, 10**9),
]


def unshown(*a):
    DETAILS.append(DETAILS.pop(0))
    raise SyntaxError("not shown", DETAILS[0])


total = ordered = tally = shout = positive = count = unshown
