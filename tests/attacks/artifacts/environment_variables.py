"""PYTEST_PLUGINS, PYTEST_ADDOPTS and PYTHONSTARTUP, from a file and set at import."""
import os
os.environ["PYTEST_PLUGINS"] = "evil"
os.environ["PYTEST_ADDOPTS"] = "--collect-only"
os.environ["PYTHONSTARTUP"] = "evil.py"
#> .env
PYTEST_PLUGINS=evil
PYTEST_ADDOPTS=--collect-only
#> evil.py
def pytest_pyfunc_call(pyfuncitem):
    return True
