"""What a walled box sees, laid out in a mount namespace of its own before bubblewrap starts.

The work folder gets a file system of limited size and number of files there, and what is mounted
read-only is seen through an overlay, so that /proc/self/mountinfo tells no path of this machine.
Root needs no user namespace for it; an ordinary user gets one. No process stays behind: the
folder lives as long as a descriptor of it, which `work_folder` closes.
"""

# The os module here: the child runs this between fork and exec, on paths that are text.
# ruff: noqa: PTH102
from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from frozenbench.canonical import BadInput, Failed
from frozenbench.sandbox.artifact import take_tree
from frozenbench.sandbox.box import Box
from frozenbench.sandbox.folders import base_folder, staged_in, swap_in
from frozenbench.sandbox.trees import copy_tree, is_small, remove_tree
from frozenbench.sandbox.users import User

#: Where the stage is, in its own mount namespace: a folder that is everywhere, holds nothing that is
#: mounted in a box, and whose name tells nothing: a program that is started from it shows it.
ROOT = "/sys"
#: The folders and single files that a stage holds beside the work folder.
STAGE_BYTES, STAGE_FILES = 8 * 1024 * 1024, 1000
#: Names in each scratch folder (/tmp, HOME, /dev/shm), at most.
SCRATCH_FILES = 20_000
#: So many mounted files and folders are seen as copies, each up to this size.
COPIED_SOURCES, COPIED_BYTES, COPIED_FILES = 7, 1024 * 1024, 64
#: Paths that every machine has: what is below them is bound as it is. (An overlay costs more than
#: half a millisecond, most of it when it is taken down.)
NEUTRAL = ("/usr/", "/etc/", "/bin/", "/sbin/", "/lib")
#: What comes back out of a writable mount, at most.
BACK_FILES, BACK_BYTES = 1000, 64 * 1024 * 1024
#: Where our own folder is in no folder of anybody's.
_PUBLIC = (Path("/tmp"), Path("/var/tmp"))


class _Item(NamedTuple):
    """One source and where it is laid out below the stage."""

    source: str
    name: str
    kind: str  # overlay, file, tree, out, scratch
    size: int = 0  # of a scratch folder, bytes


class Stage:
    """The stage of one launch: `place` names what it holds, `prepare` builds it in the child.

    Use: `place` everything, start a child whose last act before exec is `prepare`, `adopt` what
    it built, and `bring_back` what was written to mounts when it has ended.
    """

    def __init__(self, box: Box, *, veiled: bool, strict: bool = False) -> None:
        """Plan a stage for `box`; `strict`: veil also what tells nothing, to see that it works.

        Raises:
            BadInput: a mount lies in a staged work folder, which only its own boxes see.
        """
        for mount in box.mounts:
            for path in (mount.source, *mount.source.parents):
                if staged_in(path) is not None:
                    raise BadInput(
                        f"mount: {mount.source}: lies in a work folder that another box has used; "
                        "cure: copy it"
                    )
        from frozenbench.sandbox import kernel  # only a launch behind walls pays for it

        # Nothing is imported in the child: a lock of another thread may be held there for ever.
        self._kernel = kernel
        self._box, self._veiled, self._strict = box, veiled, strict
        self._items: list[_Item] = []
        self._outs: list[tuple[str, Path]] = []
        self._joined = staged_in(box.work)
        self._mounts = Mounts()

    @property
    def waits(self) -> bool:
        """Whether the process may only start once `adopt` has been called."""
        return self._joined is None

    @property
    def work(self) -> str:
        """Where the work folder is, as bubblewrap will see it."""
        return f"{ROOT}/work/work"

    def place(self, source: Path, writable: bool = False) -> str:
        """Return where bubblewrap will find `source`, a resolved path."""
        status = source.lstat()
        name = f"own/{len(self._items)}"
        if writable and stat.S_ISDIR(status.st_mode):
            name = f"work/out/{secrets.token_hex(6)}"
            self._outs.append((name.removeprefix("work/"), source))
            return self._placed(source, name, "out")
        if writable or not self._veiled or self._says_nothing(source):
            return str(source)
        room = sum(item.kind in ("file", "tree") for item in self._items) < COPIED_SOURCES
        if stat.S_ISREG(status.st_mode):
            small = room and status.st_size <= COPIED_BYTES
            return self._placed(source, name, "file") if small else str(source)
        if not stat.S_ISDIR(status.st_mode):
            return str(source)
        if room and is_small(source, COPIED_FILES, COPIED_BYTES):
            return self._placed(source, name, "tree")
        # An overlay shows one file system: what is mounted below it would be missing.
        return str(source) if self._mounts.below(source) else self._placed(source, name, "overlay")

    def _says_nothing(self, source: Path) -> bool:
        """Tell whether a bind may show the path of `source`, and the device that it is on."""
        if self._strict or self._mounts.name_somebody():
            return False
        base = base_folder()
        ours = base.parent in _PUBLIC and source.is_relative_to(base / "copies")
        return ours or f"{source}/".startswith(NEUTRAL)

    def scratch(self, size: int, target: str) -> list[str]:
        """Return bubblewrap's words for a fresh folder of limited size and number of names."""
        name = f"own/{len(self._items)}"
        self._items.append(_Item("", name, "scratch", size))
        return ["--bind", f"{ROOT}/{name}", target]

    def _placed(self, source: Path, name: str, kind: str) -> str:
        self._items.append(_Item(str(source), name, kind))
        return f"{ROOT}/{name}"

    def prepare(self, user: User | None) -> None:
        """Build the stage, for `user` if it is another one; in the child alone, before exec."""
        if self._joined is None:
            self._open(user)
        else:
            self._join(user)
        # Each launch covers that of an earlier one: its mounts are its own.
        flags = self._kernel.NO_SUID | self._kernel.NO_DEVICES
        small = f"mode=755,size={STAGE_BYTES},nr_inodes={STAGE_FILES}"
        self._kernel.mount("tmpfs", f"{ROOT}/own", flags, small)
        self._lay_out(user)

    def _open(self, user: User | None) -> None:
        """Make new namespaces, the stage in them, and the work folder with what it holds now."""
        kernel, limits = self._kernel, self._box.limits
        uid, gid = os.geteuid(), os.getegid()
        kernel.unshare(kernel.NEW_MOUNTS | (kernel.NEW_USER if user is None else 0))
        if user is None:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{uid} {uid} 1")
            _write("/proc/self/gid_map", f"{gid} {gid} 1")
        kernel.keep_mounts_here()
        flags = kernel.NO_SUID | kernel.NO_DEVICES
        kernel.mount("tmpfs", ROOT, flags, "mode=755,size=1m,nr_inodes=10")
        for name in ("work", "own"):
            os.mkdir(f"{ROOT}/{name}", 0o755)
        # Its root, the two folders in it and those of writable mounts are not the process's.
        files = limits.work_files + 3 + len(self._outs)
        large = f"mode=755,size={limits.work_bytes},nr_inodes={files}"
        kernel.mount("tmpfs", f"{ROOT}/work", flags, large)
        os.mkdir(f"{ROOT}/work/out", 0o755)
        copy_tree(self._box.work, self.work, user)

    def _join(self, user: User | None) -> None:
        """Enter the namespaces of the box that first used this work folder; keep mounts apart."""
        assert self._joined is not None
        kernel = self._kernel
        mounts, users = self._joined
        if user is None:
            kernel.enter(users, kernel.NEW_USER)
        kernel.enter(mounts, kernel.NEW_MOUNTS)
        kernel.unshare(kernel.NEW_MOUNTS)
        kernel.keep_mounts_here()

    def _lay_out(self, user: User | None) -> None:
        kernel = self._kernel
        flags = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES
        empty = f"{ROOT}/own/empty"
        os.mkdir(empty, 0o755)
        for item in self._items:
            target = f"{ROOT}/{item.name}"
            if item.kind == "overlay":
                os.mkdir(target, 0o755)
                # An overlay tells its sources as they were given: here numbers of descriptors.
                lower = [os.open(path, os.O_PATH | os.O_DIRECTORY) for path in (item.source, empty)]
                options = ":".join(f"/proc/self/fd/{number}" for number in lower)
                kernel.mount("overlay", target, flags, f"lowerdir={options}")
                for number in lower:
                    os.close(number)
            elif item.kind == "scratch":
                os.mkdir(target, 0o755)
                limits = f"mode=755,size={item.size},nr_inodes={SCRATCH_FILES}"
                owner = "" if user is None else f",uid={user.uid},gid={user.gid}"
                kernel.mount("tmpfs", target, kernel.NO_SUID | kernel.NO_DEVICES, limits + owner)
            elif item.kind == "file":
                _copy_file(item.source, target, user)
            else:
                copy_tree(Path(item.source), target, user)

    def adopt(self, child: int) -> None:
        """Let the path of the work folder lead to what the child, a process number, has built.

        Where it has not come so far, nothing changes, and its end tells why.
        """
        if self._joined is not None:
            return
        held: list[int] = []
        try:
            held.append(os.open(f"/proc/{child}/root{ROOT}/work", os.O_RDONLY | os.O_DIRECTORY))
            for name in ("mnt", "user"):
                held.append(os.open(f"/proc/{child}/ns/{name}", os.O_RDONLY))
        except OSError:
            for descriptor in held:
                os.close(descriptor)
            return
        swap_in(self._box.work, *held)

    def bring_back(self) -> None:
        """Write regular files that the process left in writable mounts to where they belong."""
        if staged_in(self._box.work) is None:
            return
        for name, target in self._outs:
            folder = self._box.work.parent / name
            if not folder.is_dir():  # the child has not come so far
                continue
            tree, _, _ = take_tree(folder, BACK_FILES, BACK_BYTES, BACK_BYTES)
            remove_tree(folder)
            for path, file in tree.items():
                written = target / path
                written.parent.mkdir(parents=True, exist_ok=True)
                written.write_bytes(file.data)


class Mounts:
    """What is mounted on this machine (proc_pid_mountinfo(5); odd characters stay escaped)."""

    def __init__(self) -> None:
        """Read what is mounted now."""
        self.text = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        self.points = [line.split(" ")[4] for line in self.text.splitlines()]

    def below(self, folder: Path) -> bool:
        """Tell whether something is mounted below a folder."""
        return any(point.startswith(f"{folder}/") for point in self.points)

    def name_somebody(self) -> bool:
        """Tell whether devices may be named after this machine or its user, as volumes often are.

        The names of all mounts count: a word too many costs an overlay, no more.
        """
        words = {os.uname().nodename, os.environ.get("USER", ""), Path.home().name} - {"", "root"}
        # In the names of volumes a dash is written twice.
        return any(w in self.text or w.replace("-", "--") in self.text for w in words)


def guarded(steps: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """Return a function for the child that takes all steps, or tells on its output why not."""

    def run() -> None:
        try:
            for step in steps:
                step()
        except BaseException as error:
            os.write(2, f"the stage cannot be built: {error}".encode())
            os._exit(1)

    return run


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def _copy_file(source: str, target: str, user: User | None) -> None:
    reading = os.open(source, os.O_RDONLY)
    try:
        status = os.fstat(reading)
        if status.st_size > COPIED_BYTES:
            raise Failed(f"{source}: has grown")
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            while piece := os.read(reading, COPIED_BYTES):
                while piece:
                    piece = piece[os.write(writing, piece) :]
            # It is ours and mounted read-only; whoever could read the source can read it.
            mode = stat.S_IMODE(status.st_mode)
            shown = 0o055 if mode & stat.S_IXUSR else 0o044
            os.fchmod(writing, mode | (shown if user else 0))
        finally:
            os.close(writing)
    finally:
        os.close(reading)
