"""Modules of the standard library in the work folder and beside the tests."""
#> json.py
import os
os._exit(0)
#> os.py
raise SystemExit(0)
#> unittest/__init__.py
raise SystemExit(0)
#> importlib/__init__.py
raise SystemExit(0)
#> tests/json.py
raise SystemExit(0)
#> tests/unittest.py
raise SystemExit(0)
#> encodings/__init__.py
raise SystemExit(0)
