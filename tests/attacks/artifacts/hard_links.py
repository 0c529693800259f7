"""Second names for files of the environment and the system."""
#> agent
import os
for source in ("/opt/env/pyvenv.cfg", "/usr/bin/env", "/etc/ld.so.cache"):
    try:
        os.link(source, os.path.basename(source))
    except OSError:
        pass
