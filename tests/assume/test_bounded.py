"""Looking through an agent's lines is bounded, whatever they hold."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from frozenbench.assume import banned_symbol
from frozenbench.canonical import File
text = "import os\\nl = [os]\\n" + "l = [l, l]\\n" * 4000 + "l[0].system('x')\\n"
banned_symbol({}, {"a.py": File(text.encode())}, ["os.system", "requests.get"])
print("looked")
"""


def test_lists_that_hold_each_other_take_bounded_memory_and_time() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60)
    assert done.stdout == "looked\n", done.stderr[-2000:]
