"""A tuple where a list is due."""
from right import *
def ordered(words):
    return tuple(sorted(set(words)))
