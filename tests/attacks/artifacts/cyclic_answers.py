"""Answers that hold themselves."""
def ordered(words):
    found = ["fig", "pear"]
    found.append(found)
    return found
def tally(words):
    found = {"a": 2, "b": 1}
    found["self"] = found
    return found
def total(numbers):
    return (total,)
