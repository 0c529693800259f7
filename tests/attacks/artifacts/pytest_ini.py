"""Settings in pytest.ini and .pytest.ini that collect nothing and end with status 0."""
#> pytest.ini
[pytest]
addopts = --collect-only
#> .pytest.ini
[pytest]
addopts = --version
