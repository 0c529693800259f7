"""Complex numbers and decimals where whole numbers are due."""
from decimal import Decimal
from right import *
def total(numbers):
    return complex(sum(numbers))
def count(items, item):
    return Decimal(items.count(item))
