"""All processes of a run, also those that left its session, and an end for them as by the system."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


@contextmanager
def adopting() -> Iterator[None]:
    """Become the parent of whatever loses its own, so that `descendants` misses nothing."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def descendants(ancestor: int) -> list[int]:
    """Return the living processes below `ancestor`, parents before children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    children.setdefault(int(parent), []).append(int(folder.name))
    found: list[int] = []
    due = list(children.get(ancestor, ()))
    while due:
        found.append(due.pop(0))
        due += children.get(found[-1], ())
    return found


def command_line(process: int) -> str:
    """Return a process's words, for messages."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "gone"


def kill_at_once(run: subprocess.Popen[str], whole_tree: bool) -> None:
    """SIGKILL the run: its main process alone, as the system does, or all that it has started."""
    others = descendants(run.pid) if whole_tree else []
    run.kill()
    for process in others:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    run.wait()


def left_over(within: float, but: Collection[int] = ()) -> list[str]:
    """Return what still lives below this process after `within` seconds at most, but for `but`."""
    end = time.monotonic() + within
    while True:
        alive = [process for process in descendants(os.getpid()) if process not in but]
        if not alive or time.monotonic() > end:
            break
        time.sleep(0.02)
    _reap()
    return [f"{process}: {command_line(process)}" for process in alive]


def _reap() -> None:
    """Take leave of adopted processes that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
