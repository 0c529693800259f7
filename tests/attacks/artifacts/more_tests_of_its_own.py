"""A second set of tests with the same ids, and a tests package that hides the first."""
#> test_solution.py
def test_total(): pass
#> tests/test_solution/__init__.py
def test_total(): pass
#> tests/test_solution.pyi
def test_total() -> None: ...
