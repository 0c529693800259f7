"""Settings in pyproject.toml that deselect every test."""
#> pyproject.toml
[tool.pytest.ini_options]
addopts = "--collect-only -k nothing"
