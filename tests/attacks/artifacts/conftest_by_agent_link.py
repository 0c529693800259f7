"""A conftest.py that is a link to a file of another name."""
#> hooks.txt
def pytest_pyfunc_call(pyfuncitem):
    return True
#> agent
import os
os.symlink("hooks.txt", "conftest.py")
os.makedirs("tests")
os.symlink("../hooks.txt", "tests/conftest.py")
