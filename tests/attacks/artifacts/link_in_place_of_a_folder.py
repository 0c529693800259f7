"""The tests' folder is a link to another folder, so that hidden files would be written there."""
#> agent
import os
os.makedirs("elsewhere")
os.symlink("elsewhere", "tests")
os.symlink("/opt/env/lib/python3.11/site-packages", "site")
