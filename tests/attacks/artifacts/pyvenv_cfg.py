"""A virtual environment of the artifact's own, with its Python and its pytest."""
#> pyvenv.cfg
home = /work
include-system-site-packages = true
#> python3.11._pth
/work
import site
#> bin/python
#!/bin/sh
exit 0
#> bin/pytest
#!/bin/sh
exit 0
