"""Answers of three bytes an item that take a hundred times as much where they are read and kept."""
def many(*a):
    return [[] for _ in range(2_700_000)]
total = ordered = tally = shout = positive = count = many
