"""A memory cgroup for one box: a hard cap on what all its processes hold together.

Version 2 alone. A group is made beside our own, where the folder above gives its groups the memory
controller and is ours to write in: for root below systemd, and for an ordinary user who starts the
workflow by `systemd-run --user --scope`.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from frozenbench.canonical import Failed

#: How long an ended group may take to become empty, s.
_GRACE_SECONDS = 2.0


class Group:
    """One made group. `join` is called in the child, the rest in its parent."""

    def __init__(self, folder: Path, joining: int) -> None:
        """Take the group's folder and a descriptor of its cgroup.procs."""
        self.folder = folder
        self._joining = joining

    def join(self) -> None:
        """Move this process into the group. Raises OSError."""
        os.write(self._joining, b"0")

    def killed(self) -> bool:
        """Tell whether the kernel has ended a process of the group for want of memory."""
        try:
            text = (self.folder / "memory.events").read_text("ascii")
        except OSError:
            return False
        counts = dict(line.split() for line in text.splitlines())
        return int(counts.get("oom_kill", 0)) > 0


@contextmanager
def limited_memory(parent: Path, most: int) -> Iterator[Group]:
    """Make a group below `parent` whose processes hold at most `most` bytes, swap included.

    Raises:
        Failed: it cannot be made.
    """
    folder = parent / f"frozenbench-{os.getpid()}-{secrets.token_hex(6)}"
    try:
        folder.mkdir()
        try:
            _set(folder / "memory.max", str(most))
            for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                with suppress(FileNotFoundError):
                    _set(folder / name, value)
            joining = os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
        except BaseException:
            folder.rmdir()
            raise
    except OSError as error:
        raise Failed(f"memory cgroup: cannot be made ({error.strerror})") from error
    try:
        yield Group(folder, joining)
    finally:
        os.close(joining)
        _remove(folder)


def _set(file: Path, value: str) -> None:
    # It must be there: a file that is made by its name would limit nothing.
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value.encode("ascii"))
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """End what is still in the group and remove it; a group that stays harms nothing."""
    with suppress(OSError):
        _set(folder / "cgroup.kill", "1")
    deadline = time.monotonic() + _GRACE_SECONDS
    while time.monotonic() < deadline:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


def find_parent(
    mounts: Path = Path("/proc/self/mountinfo"), ours: Path = Path("/proc/self/cgroup")
) -> tuple[Path | None, str]:
    """Return the folder below which groups can be made, or None and why there is none."""
    try:
        root = _mount_point(mounts.read_text("utf-8", "surrogateescape"))
        own = next(
            line.split("::", 1)[1]
            for line in ours.read_text("utf-8", "surrogateescape").splitlines()
            if line.startswith("0::")
        )
    except (OSError, StopIteration):
        return None, "there are no control groups of version 2"
    if root is None:
        return None, "there are no control groups of version 2"
    if "memory" not in _words(root / "cgroup.controllers"):
        return None, "the control groups of version 2 have no memory controller"
    folder = Path(f"{root}{own}".rstrip("/"))
    parent = folder if folder == root else folder.parent
    if "memory" not in _words(parent / "cgroup.subtree_control"):
        return None, "the group above ours does not pass the memory controller on"
    if not os.access(parent, os.W_OK) or not os.access(parent / "cgroup.procs", os.W_OK):
        return None, "the group above ours may not be written"
    return parent, ""


def _mount_point(mountinfo: str) -> Path | None:
    """Return where control groups of version 2 are mounted (proc_pid_mountinfo(5))."""
    for line in mountinfo.splitlines():
        before, _, behind = line.partition(" - ")
        if behind.split(" ", 1)[0] == "cgroup2":
            return Path(before.split(" ")[4])
    return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text("ascii").split()
    except OSError:
        return []
