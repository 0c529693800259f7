"""Settings in tox.ini under which no function is a test."""
#> tox.ini
[pytest]
python_functions = nothing_at_all
addopts = --co
