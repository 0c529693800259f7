"""Settings of tools that start code of their own: .coveragerc, mypy.ini, .pdbrc."""
#> .coveragerc
[run]
plugins = evil
#> .pdbrc
import os; os._exit(0)
#> mypy.ini
[mypy]
plugins = evil.py
#> evil.py
import os
os._exit(0)
