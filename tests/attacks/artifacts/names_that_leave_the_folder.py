"""File names with .., line ends, colons, and not in UTF-8."""
#> agent
import os
for name in (b"..\\evil", b"\n", b"a:b", b"\xff\xfe.py", b"-p", b"--co", b"conftest.py\n", b"~", b"$HOME",
             b"tests\n"):
    open(name, "wb").close()
