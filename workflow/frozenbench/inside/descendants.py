"""Ends whatever descends from this process, also what has left its group and session.

Imported by scripts of isolated interpreters, beside whose own files it lies or which name its
folder: `supervise.py` and `grade_split.py`.
"""

# The os module here: scripts that are started for each process import this.
from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends; only Linux has that."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)


def end_descendants() -> None:
    """Kill whatever descends from us until nothing does; faster than it can fork.

    Needs `adopt_orphans`, and a /proc: without one, nothing but direct children is waited for.
    """
    while True:
        found = descendants()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def descendants() -> list[int]:
    """Return all processes below us, zombies among them."""
    children: dict[int, list[int]] = {}
    for name in _numbers():
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as handle:
            # The command's name, in brackets, may hold anything; the parent is behind it.
            parent = int(handle.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _numbers() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []
