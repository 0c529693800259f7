"""Runs code in boxes, and looks at what is left of it outside."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozenbench.sandbox import Box, Ended, run


def python(box: Box, code: str, *arguments: str, **more: Any) -> Ended:
    """Run Python code in a box."""
    return run(box, [box.python, "-c", code, *arguments], **more)


def said(ended: Ended) -> str:
    """Return what a process that must have ended well has said."""
    assert ended.exit_status == 0, ended
    return ended.output.decode()


def alive(mark: str) -> list[int]:
    """Return the processes of this machine whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in words and state != "Z":
            found.append(int(entry.name))
    return found


def gone(mark: str, seconds: float = 5.0) -> bool:
    """Tell whether all processes with `mark` vanish in time."""
    return comes_true(lambda: not alive(mark), seconds)


def comes_true(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Tell whether `condition` holds within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
