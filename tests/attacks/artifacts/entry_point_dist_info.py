"""An installed-looking package in the work folder whose entry point is a pytest plug-in."""
#> evil.py
def pytest_pyfunc_call(pyfuncitem):
    return True
#> evil-1.0.dist-info/METADATA
Metadata-Version: 2.1
Name: evil
Version: 1.0
#> evil-1.0.dist-info/entry_points.txt
[pytest11]
evil = evil
