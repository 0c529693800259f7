"""Places outside the box: one private folder a user, work folders in it, readable copies."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from frozenbench.canonical import Failed, digest
from frozenbench.sandbox.trees import hand_over, remove_tree, walk
from frozenbench.sandbox.users import User, reaches, reads, unprivileged

#: The last part of a work folder's path; the part above it is its own.
WORK_NAME = "work"

#: A copy that nothing has used for this long is removed, s.
UNUSED_SECONDS = 3 * 24 * 3600

#: How often copies are looked through, s: there may be thousands.
SWEPT_SECONDS = 3600

#: A copy is made again after this long, s: some systems remove old single files from /tmp.
RENEWED_SECONDS = 5 * 24 * 3600


def base_folder() -> Path:
    """Return this user's folder for everything temporary, made if absent.

    It is private to an ordinary user. Root's can be passed through, not listed, because the
    user that root drops to must reach its work folder.

    Raises:
        Failed: somebody else owns the folder or may write in it.
    """
    user = unprivileged()
    parents = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    parent = next((p for p in parents if user is None or _passes(user, p)), parents[0])
    return private_folder(parent / f"frozenbench-{os.geteuid()}", 0o711 if user else 0o700)


def _passes(user: User, folder: Path) -> bool:
    return folder.is_dir() and reaches(user, folder.resolve() / "name")


def private_folder(path: Path, mode: int = 0o700) -> Path:
    """Return `path` as a folder of our own with `mode`, made if absent.

    Raises:
        Failed: it is a link or somebody else's, or it cannot be made.
    """
    try:
        path.mkdir(mode=mode)
    except FileExistsError:
        pass
    except OSError as error:
        raise Failed(f"{path}: cannot be made ({error.strerror}); cure: set TMPDIR") from error
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise Failed(f"{path}: belongs to somebody else; cure: remove it, or set TMPDIR")
    if stat.S_IMODE(status.st_mode) != mode:
        path.chmod(mode)
    return path


def inner_folder(name: str) -> Path:
    """Return a folder of the base folder, with its mode."""
    base = base_folder()
    return private_folder(base / name, stat.S_IMODE(base.stat().st_mode))


@contextmanager
def work_folder() -> Iterator[Path]:
    """Make a fresh, empty folder that a boxed process can write to; remove it at the end.

    The name of the folder above starts with our process id. A lock that the kernel drops with us
    tells whether its owner lives, so folders that a killed process left are removed by the next
    call. As real root it belongs to the user that boxed processes get. Where this machine can
    limit its size, its first walled box moves what it holds to a file system of its own; its
    path then leads there, for this process alone, and is not to be resolved.
    """
    parent = inner_folder("work")
    _sweep(parent)
    _sweep_copies()
    user = unprivileged()
    lock, holder = _claimed(parent)
    path = holder / WORK_NAME
    try:
        holder.mkdir(mode=0o711)
        path.mkdir(mode=0o700)
        if user is not None:
            hand_over(path, user.uid, user.gid)
        yield path
    finally:
        for descriptor in _held(holder):
            os.close(descriptor)
        _discard(holder)
        holder.with_suffix(".lock").unlink(missing_ok=True)
        os.close(lock)


def is_work_folder(path: Path) -> bool:
    """Tell whether a path is that of a work folder."""
    return path.name == WORK_NAME and path.parent.parent == inner_folder("work")


def staged_in(work: Path) -> tuple[int, int] | None:
    """Return descriptors of the mount and the user namespace that hold a work folder, or None.

    None: it still lies on the disk.
    """
    if not is_work_folder(work) or not work.parent.is_symlink():
        return None
    _, mounts, users = _held(work.parent)
    return mounts, users


@contextmanager
def first_launch(work: Path) -> Iterator[None]:
    """Let one launch at a time move a work folder to its new place; free where that is done."""
    if staged_in(work) is not None:
        yield
        return
    lock = os.open(work.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)  # a child that is about to start holds it too
        os.close(lock)


def swap_in(work: Path, folder: int, mounts: int, users: int) -> None:
    """Let the path of a work folder lead into the open folder above its new place.

    The three descriptors are closed when the work folder ends; the kernel then drops its content
    at once, whatever that is.
    """
    holder = work.parent
    holder.with_suffix(".held").symlink_to(f"{folder} {mounts} {users}")
    holder.rename(holder.with_suffix(".disk"))
    holder.symlink_to(f"/proc/{os.getpid()}/fd/{folder}")


def _held(holder: Path) -> list[int]:
    """Return the descriptors behind a staged work folder; none where it lies on the disk."""
    try:
        return [int(word) for word in os.readlink(holder.with_suffix(".held")).split()]  # noqa: PTH115
    except FileNotFoundError:
        return []


def _discard(holder: Path) -> None:
    """Remove all that stands for a work folder but its lock; its owner may have died halfway."""
    if holder.is_symlink():
        holder.unlink()
    else:
        remove_tree(holder)
    holder.with_suffix(".held").unlink(missing_ok=True)
    remove_tree(holder.with_suffix(".disk"))


def _claimed(parent: Path) -> tuple[int, Path]:
    """Return a held lock and the path of the folder that it stands for."""
    while True:
        path = parent / f"{os.getpid()}-{secrets.token_hex(6)}"
        lock_path = path.with_suffix(".lock")
        lock = os.open(lock_path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # A sweep may have taken the file between these two calls.
        if os.fstat(lock).st_nlink:
            return lock, path
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove the work folders whose owner has died."""
    for lock_path in parent.glob("*.lock"):
        with suppress(OSError):
            lock = os.open(lock_path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _discard(lock_path.with_suffix(""))
                lock_path.unlink(missing_ok=True)
            finally:
                os.close(lock)


def readable(source: Path, user: User | None) -> Path:
    """Return a path of the same content as `source` that `user` can read: itself, or a copy.

    Raises:
        Failed: it is a socket or the like, which cannot be copied.
    """
    source = source.resolve()
    if user is None or (reaches(user, source) and reads(user, source)):
        return source
    status = source.lstat()
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
        raise Failed(f"{source}: uid {user.uid} cannot reach it; cure: make it in work_folder()")

    def fill(target: Path) -> None:
        if stat.S_ISDIR(status.st_mode):
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
        _show_to(target, user)

    return kept_copy(["content", _identity(source)], fill)


def _identity(source: Path) -> list[list[str | int]]:
    """Return what changes when anything below `source` does: names, inodes, times, sizes."""

    def line(path: str, status: os.stat_result) -> list[str | int]:
        times = [status.st_mtime_ns, status.st_ctime_ns]
        return [path, status.st_dev, status.st_ino, status.st_mode, status.st_size, *times]

    status = source.lstat()
    top = line(str(source), status)
    if not stat.S_ISDIR(status.st_mode):
        return [top]
    return [top, *(line(os.fsencode(i.path).hex(), i.status) for i in walk(source))]


def _show_to(path: Path, user: User) -> None:
    """Let the group of `user`, and no other ordinary user, read a copy that stays ours."""
    for target in [path, *path.rglob("*")] if path.is_dir() else [path]:
        if target.is_symlink():
            continue
        os.chown(target, -1, user.gid)
        executable = target.is_dir() or target.stat().st_mode & stat.S_IXUSR
        target.chmod(0o750 if executable else 0o640)


def kept_copy(key: object, fill: Callable[[Path], None]) -> Path:
    """Return the kept copy of that key; where there is none, `fill` makes it, all or nothing."""
    folder = inner_folder("copies")
    path = folder / digest([key, int(time.time() // RENEWED_SECONDS)])[:24]
    if path.exists():
        os.utime(path)
        return path
    building = folder / f".{os.getpid()}-{secrets.token_hex(6)}"
    try:
        fill(building)
        # Where the name is taken by now, a process that was faster has made the same.
        with suppress(OSError):
            building.rename(path)
        os.utime(path)
    except OSError as error:
        raise Failed(f"{path}: the copy for the boxed user failed: {error}") from error
    finally:
        if building.is_dir():
            remove_tree(building)
        else:
            building.unlink(missing_ok=True)
    return path


def _sweep_copies() -> None:
    """Remove the copies that nothing has used for a long time; looks once an hour."""
    now = time.time()
    swept = inner_folder("copies") / ".swept"
    with suppress(FileNotFoundError):
        if now - SWEPT_SECONDS < swept.lstat().st_mtime <= now:
            return
    swept.touch()
    for path in swept.parent.iterdir():
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime >= now - UNUSED_SECONDS:
                continue
            if path.is_dir():
                remove_tree(path)
            else:
                path.unlink()
