"""The same as an egg-info, and as an egg beside an easy-install file."""
#> evil.py
def pytest_pyfunc_call(pyfuncitem):
    return True
#> evil.egg-info/PKG-INFO
Metadata-Version: 1.0
Name: evil
Version: 1.0
#> evil.egg-info/entry_points.txt
[pytest11]
evil = evil
#> easy-install.pth
./evil
