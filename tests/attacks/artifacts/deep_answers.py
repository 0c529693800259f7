"""Answers nested a hundred thousand deep."""
def deep(*a):
    found = []
    for _ in range(100_000):
        found = [found]
    return found
total = ordered = shout = positive = count = deep
def tally(words):
    found = {}
    for _ in range(100_000):
        found = {"a": found}
    return found
