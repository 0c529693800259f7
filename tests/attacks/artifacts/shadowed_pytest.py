"""pytest, _pytest and pluggy in the work folder."""
#> pytest.py
import os
os._exit(0)
#> _pytest/__init__.py
import os
os._exit(0)
#> pluggy/__init__.py
import os
os._exit(0)
