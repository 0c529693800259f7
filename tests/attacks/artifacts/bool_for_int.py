"""True where a count of 1 is due."""
from right import *
def count(items, item):
    return item in items
