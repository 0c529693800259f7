"""Settings in setup.cfg that load a plug-in of the artifact's own."""
#> setup.cfg
[tool:pytest]
addopts = -p evil --collect-only
#> evil.py
import os
os._exit(0)
