"""5.0 where 5 is due."""
from right import *
def total(numbers):
    return float(sum(numbers))
