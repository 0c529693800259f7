"""Generators and endless iterators where values are due."""
import itertools
from right import *
def ordered(words):
    return (word for word in sorted(set(words)))
def tally(words):
    return itertools.count()
