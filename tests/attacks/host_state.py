"""What of this machine no attack may touch, and whether it is as it was."""

from __future__ import annotations

import ctypes
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from frozenbench.grade.boxes import INSIDE
from frozenbench.sandbox import base_folder

_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def new_mark() -> str:
    """Return a word that what an attack leaves carries in its name or command line."""
    return f"attack{secrets.token_hex(8)}"


def identity(*folders: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Return what changes when anything below a folder does, our own byte code left out."""
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if "__pycache__" in path.parts and INSIDE in path.parents:
            continue
        status = path.lstat()
        found.append((str(path), status.st_size, status.st_mtime_ns, status.st_mode))
    return tuple(found)


def files_marked(mark: str) -> list[str]:
    """Return files and folders of the host that carry the mark where a box might have put them."""
    places = {Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")}
    places |= {Path("/run"), Path("/"), Path.cwd(), Path(os.path.expanduser("~"))}  # noqa: PTH111
    base = base_folder()
    places |= {base, base / "work", base / "copies"}
    found = []
    for place in places:
        with suppress(OSError):
            found += [str(path) for path in place.iterdir() if mark in path.name]
    return found


def processes_marked(mark: str) -> list[int]:
    """Return the living processes of this machine whose command line holds the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                words = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if mark.encode() in words and state != "Z":
                    found.append(int(entry.name))
    return found


def descendants() -> list[int]:
    """Return the living processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                if words[0] != "Z":
                    children.setdefault(int(words[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


@dataclass
class Left:
    """What was found once everything should have ended."""

    processes: list[int]
    files: list[str]
    shared_changed: bool

    @property
    def nothing(self) -> bool:
        """Whether the host is as it was."""
        return not (self.processes or self.files or self.shared_changed)


@contextmanager
def watched(environment: Path, mark: str) -> Iterator[Left]:
    """Fill in, at the end, what is left: whoever loses its parent meanwhile becomes our child.

    What all cells share, the environment and the harness's own files, must be as it was.

    Processes get half a second to be gone; those that were there before do not count.
    """
    before, known = identity(environment, INSIDE), set(descendants())
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    left = Left([], [], False)
    try:
        yield left
    finally:
        deadline = time.monotonic() + 0.5
        while (found := [*({*descendants()} - known), *processes_marked(mark)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.01)
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(0), 0, 0, 0)
        left.processes, left.files = found, files_marked(mark)
        left.shared_changed = identity(environment, INSIDE) != before
