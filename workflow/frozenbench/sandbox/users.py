"""Who the boxed process is outside: as real root another user, else ourselves."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

#: The overflow user, which owns nothing on a sane machine.
NOBODY = 65534


@dataclass(frozen=True)
class User:
    """The user and group that a boxed process gets before anything of it runs."""

    uid: int
    gid: int


def unprivileged() -> User | None:
    """Return the user that real root drops to, or None for an ordinary user.

    Root of a small user namespace, where no second user exists, has no power outside it and
    counts as an ordinary user.
    """
    return User(NOBODY, NOBODY) if os.geteuid() == 0 and _is_mapped(NOBODY) else None


def become(user: User) -> None:
    """Give up root for good. Raises OSError."""
    os.setgroups([])
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _is_mapped(uid: int) -> bool:
    try:
        lines = Path("/proc/self/uid_map").read_text("ascii").splitlines()
    except OSError:
        return True
    ranges = [[int(word) for word in line.split()] for line in lines]
    return any(first <= uid < first + count for first, _, count in ranges)


def reaches(user: User, path: Path) -> bool:
    """Tell whether `user` can traverse the folders that lead to `path` (permission bits only)."""
    return all(allows(user, folder.stat(), stat.S_IXOTH) for folder in path.parents)


def reads(user: User, path: Path) -> bool:
    """Tell whether `user` can read `path` and, of a folder, all that lies in it.

    Links are left alone: they are resolved where they are seen.
    """
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return True
    if not stat.S_ISDIR(status.st_mode):
        return allows(user, status, stat.S_IROTH)
    if not allows(user, status, stat.S_IROTH | stat.S_IXOTH):
        return False
    return all(reads(user, inner) for inner in path.iterdir())


def allows(user: User, status: os.stat_result, bits: int) -> bool:
    """Tell whether the permission bits give `user` all of `bits` (named as those of others)."""
    shift = 6 if status.st_uid == user.uid else 3 if status.st_gid == user.gid else 0
    return (status.st_mode >> shift) & bits == bits
