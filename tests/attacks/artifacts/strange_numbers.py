"""Not-a-number, infinities, negative zero, lone surrogates, zero bytes, and text beside numbers."""
def total(numbers):
    return float("nan")
def count(items, item):
    return float("inf")
def ordered(words):
    return ["fig\0", "pear\ud800"]
def tally(words):
    return {1: 1, "1": 1, None: 2, (1, 2): 3}
def shout(text):
    return "GO\u200b ON!"
def positive(text):
    return -0.0
