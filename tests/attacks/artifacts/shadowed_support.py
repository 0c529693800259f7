"""The tests' own support package, replaced so that a total of nothing is right."""
#> support/__init__.py
#> support/numbers.py
MANY, THEIR_SUM = [], 0
#> tests/support.py
class numbers:
    MANY, THEIR_SUM = [], 0
#> tests/support/__init__.py
from . import numbers
numbers.MANY, numbers.THEIR_SUM = [], 0
#> tests/support/numbers.py
MANY, THEIR_SUM = [], 0
