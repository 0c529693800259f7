"""A package named conftest, and a conftest in the tests' support folder."""
#> conftest/__init__.py
def pytest_pyfunc_call(pyfuncitem):
    return True
#> tests/support/conftest.py
def pytest_pyfunc_call(pyfuncitem):
    return True
