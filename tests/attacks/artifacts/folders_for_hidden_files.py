"""Folders in the places of the hidden files, and packages that go before modules of their name."""
#> tests/test_solution.py/inside.py
MANY, THEIR_SUM = [], 0
#> tests/support/numbers.py/__init__.py
MANY, THEIR_SUM = [], 0
#> tests/support/numbers/__init__.py
MANY, THEIR_SUM = [], 0
