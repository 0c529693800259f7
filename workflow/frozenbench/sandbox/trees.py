"""Hostile file trees: walked, handed over and removed by descriptor, following no link.

Nothing here trusts a name twice: a folder is opened relative to its parent's descriptor with
`O_NOFOLLOW`, so that a link put in its place in between leads nowhere.
"""

# The os module here: calls relative to a descriptor, which pathlib has not.
# ruff: noqa: PTH101, PTH102, PTH208, PTH211
from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from frozenbench.sandbox.users import User

#: Folders nested deeper than this are not entered: no honest work tree comes near.
MAX_DEPTH = 64

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ANCHOR = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Item:
    """One name of a walked tree. `folder` is open only until the walk goes on."""

    folder: int
    name: str
    path: str
    status: os.stat_result
    unread: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether the name is a folder (a link to one is not)."""
        return stat.S_ISDIR(self.status.st_mode)


def walk(root: Path, skip: Callable[[str], bool] = lambda _: False) -> Iterator[Item]:
    """Yield every name below `root`, folders before their content, names sorted.

    What `skip` tells of a relative path is neither yielded nor entered. A folder that is not
    entered for another reason (nested deeper than MAX_DEPTH, or not readable even after its
    owner's bits are set) carries it in `unread`.
    """
    descriptor = os.open(root, _FOLDER)
    try:
        yield from _walk(descriptor, "", 0, skip)
    finally:
        os.close(descriptor)


def _walk(folder: int, prefix: str, depth: int, skip: Callable[[str], bool]) -> Iterator[Item]:
    for name in sorted(os.listdir(folder)):
        path = prefix + name
        if skip(path):
            continue
        try:
            status = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            yield Item(folder, name, path, status)
            continue
        if depth + 1 >= MAX_DEPTH:
            yield Item(folder, name, path, status, f"nested more than {MAX_DEPTH} folders deep")
            continue
        try:
            inner = open_folder(name, folder)
        except OSError:
            yield Item(folder, name, path, status, "cannot be read")
            continue
        try:
            yield Item(folder, name, path, status)
            yield from _walk(inner, path + "/", depth + 1, skip)
        finally:
            os.close(inner)


def open_folder(name: str, parent: int) -> int:
    """Open a folder below the descriptor `parent`, setting its owner's bits where they miss."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        _grant(name, parent, 0o700)
        return os.open(name, _FOLDER, dir_fd=parent)


def open_file(name: str, parent: int) -> int:
    """Open a regular file for reading, never a link, a device or a pipe in its place.

    Raises:
        OSError: it is gone, is no regular file any more, or cannot be read.
    """
    anchor = os.open(name, _ANCHOR, dir_fd=parent)
    try:
        status = os.fstat(anchor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("is no regular file")
        handle = f"/proc/self/fd/{anchor}"
        try:
            return os.open(handle, os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            os.chmod(handle, status.st_mode & 0o777 | 0o400)
            return os.open(handle, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(anchor)


def _grant(name: str, parent: int, bits: int) -> None:
    """Set permission bits of what `name` is now; a link's target is never reached."""
    anchor = os.open(name, _ANCHOR, dir_fd=parent)
    try:
        status = os.fstat(anchor)
        if not stat.S_ISLNK(status.st_mode):
            os.chmod(f"/proc/self/fd/{anchor}", status.st_mode & 0o777 | bits)
    finally:
        os.close(anchor)


def hand_over(root: Path, uid: int, gid: int) -> None:
    """Give `root` and what lies in it to another user; links themselves, never their targets.

    A file with a second name may be somebody else's, so it keeps its owner.
    """
    if os.lstat(root).st_uid != uid:
        os.chown(root, uid, gid, follow_symlinks=False)
    for item in walk(root):
        second_name = not item.is_folder and item.status.st_nlink > 1
        if item.status.st_uid != uid and not second_name:
            os.chown(item.name, uid, gid, dir_fd=item.folder, follow_symlinks=False)


def is_small(root: Path, most_names: int, most_bytes: int) -> bool:
    """Tell whether a folder holds at most so many names and bytes, and nothing nested too deep."""
    names = size = 0
    for item in walk(root):
        names, size = names + 1, size + item.status.st_size
        if names > most_names or size > most_bytes or item.unread is not None:
            return False
    return True


def copy_tree(source: Path, target: str, user: User | None) -> None:
    """Copy files, folders and links, with modes and times, to `target`, which nobody else sees.

    Other kinds are left out. The copy belongs to `user`, or (None) to us.

    Raises:
        OSError: something cannot be read, is nested too deep, or does not fit.
    """
    os.mkdir(target, 0o700)
    folders = [(target, os.lstat(source))]
    for item in walk(source):
        to, mode = f"{target}/{item.path}", item.status.st_mode
        if item.unread is not None:
            raise OSError(f"{item.path}: {item.unread}")
        if stat.S_ISDIR(mode):
            os.mkdir(to, 0o700)
            folders.append((to, item.status))
        elif stat.S_ISLNK(mode):
            os.symlink(os.readlink(item.name, dir_fd=item.folder), to)
            if user is not None:
                os.chown(to, user.uid, user.gid, follow_symlinks=False)
        elif stat.S_ISREG(mode):
            _copy_file(item, to)
            _dress(to, item.status, user)
    # A folder's time changes with what is put into it, so folders come last, inner ones first.
    for to, status in reversed(folders):
        _dress(to, status, user)


def _copy_file(item: Item, to: str) -> None:
    reading = open_file(item.name, item.folder)
    try:
        writing = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            while os.sendfile(writing, reading, None, 1 << 24):
                pass
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _dress(to: str, status: os.stat_result, user: User | None) -> None:
    if user is not None:
        os.chown(to, user.uid, user.gid)
    os.chmod(to, stat.S_IMODE(status.st_mode))
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove_tree(root: Path) -> None:
    """Remove a folder, however deep and whatever its permission bits; absent is no error.

    Nested folders are first moved up to the root, so that depth costs neither stack nor
    descriptors nor a path that is too long.
    """
    try:
        parent = os.open(root.parent, _FOLDER)
    except FileNotFoundError:
        return
    try:
        with suppress(FileNotFoundError):
            top = open_folder(root.name, parent)
            try:
                _empty(top)
            finally:
                os.close(top)
            os.rmdir(root.name, dir_fd=parent)
    finally:
        os.close(parent)


def _empty(top: int) -> None:
    with suppress(PermissionError):
        os.fchmod(top, 0o700)
    serial = 0
    while names := os.listdir(top):
        for name in names:
            try:
                os.unlink(name, dir_fd=top)
                continue
            except FileNotFoundError:
                continue
            except (IsADirectoryError, PermissionError):
                serial = _flatten(name, top, serial)


def _flatten(name: str, top: int, serial: int) -> int:
    """Remove the folder `name`, moving the folders in it up to `top`; return the next number."""
    with suppress(PermissionError):
        _grant(name, top, 0o700)
    folder = open_folder(name, top)
    try:
        for inner in os.listdir(folder):
            if not stat.S_ISDIR(os.lstat(inner, dir_fd=folder).st_mode):
                os.unlink(inner, dir_fd=folder)
                continue
            # Moving a folder rewrites its "..", which takes its owner's write bit.
            with suppress(PermissionError):
                _grant(inner, folder, 0o700)
            serial += 1
            os.rename(inner, f".{serial}.{os.getpid()}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return serial
