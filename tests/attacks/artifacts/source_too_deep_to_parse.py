"""Source of signs and attributes so deep that Python's parser and compiler give up."""
#> agent
from pathlib import Path
Path("solution.py").write_text("total = " + "-" * 200_000 + "1\n")
Path("tests").mkdir()
Path("tests/deep.py").write_text("x = y" + ".a" * 60_000 + "\n")
Path("coded.py").write_text("# coding: idna\n# xn--" + "a" * 100_000 + "\n")
