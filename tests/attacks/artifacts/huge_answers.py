"""Answers of a hundred megabytes, in the hope that a comparison gives up."""
def total(numbers):
    return int("9" * 4000) ** 2000
def ordered(words):
    return ["fig"] * 3_000_000
def shout(text):
    return "GO ON!" * 20_000_000
def tally(words):
    return {str(n): n for n in range(300_000)}
