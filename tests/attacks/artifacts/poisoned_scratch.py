"""Leaves files in every scratch folder, the home folder and shared memory for the next cell."""
import os
HOOK = "import os\nos._exit(0)\n"
for place in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), "/home", "/run", "/", "..",
              os.path.expanduser("~/.local/lib/python3.11/site-packages"), "/work/.."):
    for name in ("@MARK@", "usercustomize.py", "conftest.py", "pytest.ini", "solution.py",
                 ".config/@MARK@"):
        try:
            os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
            with open(os.path.join(place, name), "w") as handle:
                handle.write(HOOK)
        except OSError:
            pass
#> next
import glob, os
seen = glob.glob("/tmp/*@MARK@*") + glob.glob("/dev/shm/*") + glob.glob(os.path.expanduser("~/*"))
assert not seen, seen
