"""Limits that no call of a boxed process meets: looked at from outside, a few times a second."""

# The os module here: calls relative to a descriptor, and a look that costs next to nothing.
# ruff: noqa: PTH123, PTH208
from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from frozenbench.sandbox.box import Limits
from frozenbench.sandbox.trees import open_folder

#: How often a process is looked at, s. One that ends sooner is looked at once, at its end.
EVERY_SECONDS = 0.2
#: The looks at a work folder on the disk take at most this share of the time.
_SHARE = 0.05
#: Folders nested deeper than this in a work folder on the disk count as too many files.
_MOST_NESTED = 200

_PAGE = os.sysconf("SC_PAGE_SIZE")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Watch:
    """Looks at one box."""

    def __init__(
        self,
        limits: Limits,
        work: Path,
        *,
        sized: bool,
        memory: bool,
        killed: Callable[[], bool] | None = None,
    ) -> None:
        """Take the limits and what there is to look at.

        Args:
            limits: of the box.
            work: the work folder.
            sized: the folder is a file system of its own that the kernel keeps to its limits.
            memory: the box has processes of its own whose memory is summed up.
            killed: tells whether a memory cgroup has ended a process, where there is one.
        """
        self._limits, self._work = limits, work
        self._sized, self._sums, self._killed = sized, memory, killed
        self._due = time.monotonic() + EVERY_SECONDS
        self._folder_due = self._due

    def due_in(self) -> float:
        """Return the time until the next look, s."""
        return max(0.0, self._due - time.monotonic())

    def passed(self, first: int | None) -> str | None:
        """Return the field of Limits that is passed now, or None.

        `first` is the first process of the box's process namespace, where it is known.
        """
        limit = self._folder() if time.monotonic() >= self._folder_due else None
        if limit is None and self._sums and first is not None:
            limit = self._memory(first)
        self._due = time.monotonic() + EVERY_SECONDS
        return limit

    def hit_at_end(self) -> str | None:
        """Return what the process has filled up, or None: it may have ended before a look."""
        if self._killed is not None and self._killed():
            return "total_memory_bytes"
        return self._folder()

    def _folder(self) -> str | None:
        if self._sized:
            with suppress(OSError):
                free = os.statvfs(self._work)
                return "work_files" if not free.f_ffree else None if free.f_bfree else "work_bytes"
            return None
        started = time.monotonic()
        limits = self._limits
        size, files = usage(self._work, limits.work_bytes, limits.work_files)
        ended = time.monotonic()
        self._folder_due = ended + (ended - started) / _SHARE
        if files > limits.work_files:
            return "work_files"
        return "work_bytes" if size > limits.work_bytes else None

    def _memory(self, first: int) -> str | None:
        """Sum up what the processes hold; what they share counts once, as soon as it matters."""
        root = f"/proc/{first}/root/proc"
        most = self._limits.total_memory_bytes
        with suppress(OSError):
            processes = [name for name in os.listdir(root) if name.isdigit()]
            if sum(_resident(f"{root}/{name}") for name in processes) <= most:
                return None
            # A number that another process has got by now would show the whole machine.
            ours = _is_first(first) and sum(_share(f"{root}/{name}") for name in processes) > most
            return "total_memory_bytes" if ours else None
        return None


def _resident(process: str) -> int:
    """Return the resident memory of a process, bytes; 0 where it is gone."""
    try:
        with open(f"{process}/statm", "rb") as handle:
            return int(handle.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _share(process: str) -> int:
    """Return the memory of a process, shared pages by its share, bytes; 0 where it is gone."""
    try:
        with open(f"{process}/smaps_rollup", "rb") as handle:
            for line in handle:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def _is_first(process: int) -> bool:
    try:
        with open(f"/proc/{process}/status", "rb") as lines:
            return any(line.startswith(b"NSpid:") and line.split()[-1] == b"1" for line in lines)
    except OSError:
        return False


def usage(root: Path, most_bytes: int, most_files: int) -> tuple[int, int]:
    """Return bytes on the disk and number of names below `root`, counted until one is passed.

    No link is followed. Folders nested too deep count as too many files; folders that their owner
    has closed are opened.
    """
    size = files = 0
    seen: set[tuple[int, int]] = set()

    def count(folder: int, depth: int) -> bool:
        """Add up one open folder and what is below; False once a limit is passed."""
        nonlocal size, files
        for name in os.listdir(folder):
            try:
                status = os.lstat(name, dir_fd=folder)
            except OSError:
                continue
            files += 1
            identity = (status.st_dev, status.st_ino)
            if status.st_nlink == 1 or identity not in seen:
                size += status.st_blocks * 512
                seen.add(identity)
            if size > most_bytes or files > most_files:
                return False
            if stat.S_ISDIR(status.st_mode) and not below(folder, name, depth + 1):
                return False
        return True

    def below(parent: int, name: str, depth: int) -> bool:
        nonlocal files
        if depth > _MOST_NESTED:
            files = most_files + 1
            return False
        try:
            folder = open_folder(name, parent)
        except OSError:  # gone, or another thing by now
            return True
        try:
            return count(folder, depth)
        finally:
            os.close(folder)

    top = os.open(root, _FOLDER)
    try:
        count(top, 0)
    finally:
        os.close(top)
    return size, files
