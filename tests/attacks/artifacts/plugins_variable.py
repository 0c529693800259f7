"""A module variable pytest_plugins that names a plug-in of the artifact."""
pytest_plugins = ["evil"]
#> evil.py
def pytest_pyfunc_call(pyfuncitem):
    return True
