"""The Python that a box runs: the base runtime, and a pack's environment over it.

Inside, a pack environment stands at ENVIRONMENT and its base runtime at RUNTIME (or at /usr,
where the system's Python is the base), whatever the paths outside.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from frozenbench.canonical import BadInput
from frozenbench.sandbox.folders import kept_copy
from frozenbench.sandbox.users import User, reaches

ENVIRONMENT = "/opt/env"
RUNTIME = "/opt/python"

#: What a copy of the runtime does without: tests, the editor, static libraries, packages.
_LEFT_OUT = re.compile(r"test|tests|idlelib|turtledemo|site-packages|dist-packages|config-.*|.*\.a")

#: Found again from the executable itself, wherever a copy stands.
_RELATIVE_LIBRARIES = b"$ORIGIN/../lib"


@dataclass(frozen=True)
class Runtime:
    """A base Python: its folder outside, where it stands inside, its executable's name."""

    folder: Path
    inside: str
    name: str

    @property
    def python(self) -> Path:
        """The executable's path outside."""
        return self.folder / "bin" / self.name


def base_runtime() -> Runtime:
    """Return the runtime that the running interpreter, or its virtual environment, stands on."""
    folder = Path(sys.base_prefix).resolve()
    inside = "/usr" if folder == Path("/usr") else RUNTIME
    return Runtime(folder, inside, f"python{sys.version_info.major}.{sys.version_info.minor}")


def runtime_for(user: User | None, *, moved: bool) -> Runtime:
    """Return a runtime that `user` can read and, if `moved`, that works at another path.

    It is the base runtime itself, or a copy kept for this machine's user: where a folder above
    is closed to `user`, or where the executable finds its own library by an absolute path only.
    """
    base = base_runtime()
    closed = user is not None and not reaches(user, base.python.resolve())
    bound = moved and base.inside == RUNTIME and _finds_library_by_path(base)
    if not closed and not bound:
        return base
    status = base.python.resolve().stat()
    identity = [status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
    copy = kept_copy(
        ["runtime", 1, str(base.folder), sys.version, identity], lambda to: _copy(base, to)
    )
    return Runtime(copy, base.inside, base.name)


def _library_path() -> bytes:
    return os.fsencode(Path(sys.base_prefix) / "lib")


def _finds_library_by_path(base: Runtime) -> bool:
    if str(base.folder).startswith("/usr/"):
        return False  # /usr is seen inside at its own path
    if not any(base.folder.glob(f"lib/lib{base.name}.so*")):
        return False
    return b"\0" + _library_path() + b"\0" in base.python.read_bytes()


def _copy(base: Runtime, to: Path) -> None:
    """Copy executable, shared libraries and standard library; make the copy movable."""
    (to / "bin").mkdir(parents=True)
    (to / "lib").mkdir()
    to.chmod(0o755)
    executable = to / "bin" / base.name
    shutil.copy2(base.python, executable)
    _make_movable(executable, _library_path())
    for alias in ("python3", "python"):
        (to / "bin" / alias).symlink_to(base.name)
    for library in (base.folder / "lib").glob("*.so*"):
        shutil.copy2(library, to / "lib" / library.name, follow_symlinks=False)
    shutil.copytree(
        base.folder / "lib" / base.name,
        to / "lib" / base.name,
        symlinks=True,
        ignore=lambda _, names: [name for name in names if _LEFT_OUT.fullmatch(name)],
    )
    for path in to.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def _make_movable(executable: Path, libraries: bytes) -> None:
    """Replace the absolute library path in an ELF executable by one relative to itself.

    The dynamic string table holds it between zero bytes; a shorter text, filled up with zero
    bytes, leaves every offset as it is. Where it does not fit, nothing changes, and the probe
    run says so.
    """
    data = executable.read_bytes()
    new = _RELATIVE_LIBRARIES.ljust(len(libraries), b"\0")
    if len(new) == len(libraries):
        executable.write_bytes(data.replace(b"\0" + libraries + b"\0", b"\0" + new + b"\0"))


def environment_for(environment: Path, user: User | None) -> Path:
    """Return the pack environment, or a copy of it that `user` can read.

    Raises:
        BadInput: it is no environment, or it was built for another Python.
    """
    environment = environment.resolve()
    described = environment / "environment.json"
    try:
        built = json.loads(described.read_bytes())["python"]
        status = described.stat()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{described}: is not that of a built pack environment ({error}); "
            "cure: remove the folder and build it again"
        ) from error
    running = f"{sys.version_info.major}.{sys.version_info.minor}."
    if not str(built).startswith(running):
        raise BadInput(
            f"{described}: python: {built} was built for another Python than the running "
            f"{running}x; cure: remove the folder and build it again"
        )
    # Built read-only and put in place by one rename, so one inode stands for all of it.
    if user is None or (reaches(user, described) and status.st_mode & 0o004):
        return environment
    identity = [status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
    return kept_copy(
        ["environment", str(environment), identity],
        lambda to: _copy_environment(environment, to),
    )


def _copy_environment(environment: Path, to: Path) -> None:
    shutil.copytree(environment, to, symlinks=True)
    for path in [to, *to.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def twin(environment: Path, runtime: Runtime) -> Path:
    """Return a folder through which `environment` works at its path outside any box.

    Its scripts and its link to the runtime say where things are outside; the packages are the
    environment's own.
    """
    status = (environment / "environment.json").stat()
    identity = [str(environment), status.st_dev, status.st_ino, status.st_mtime_ns]
    key = ["twin", 1, identity, str(runtime.python)]

    def fill(to: Path) -> None:
        (to / "bin").mkdir(parents=True)
        to.chmod(0o755)
        (to / "lib").symlink_to(environment / "lib")
        text = (environment / "pyvenv.cfg").read_text("utf-8")
        home = f"home = {runtime.folder / 'bin'}\n"
        (to / "pyvenv.cfg").write_text(
            re.sub(r"home = .*\n", lambda _: home, text, count=1), "utf-8"
        )
        for script in (environment / "bin").iterdir():
            target = to / "bin" / script.name
            if not script.is_symlink():
                # `env` finds the twin's own python by the PATH of the box.
                first = os.fsencode(f"#!{ENVIRONMENT}/bin/")
                data = script.read_bytes()
                target.write_bytes(data.replace(first, b"#!/usr/bin/env ", 1))
                target.chmod(0o755)
            elif script.name == "python":
                target.symlink_to(runtime.python)
            else:
                target.symlink_to("python")

    return kept_copy(key, fill)
