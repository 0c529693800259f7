"""Answers whose differences from what is expected take a diff of many similar lines to show."""
def ordered(words):
    return ["fig" + " " * (number % 97) for number in range(80_000)]
def tally(words):
    return {"a" * (number % 50) + str(number): 1 for number in range(80_000)}
def shout(text):
    return "\n".join("GO ON!" + "! " * (number % 40) for number in range(60_000))
def count(items, item):
    return 10**20_000
