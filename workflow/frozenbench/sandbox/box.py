"""What a box is: its level, what is seen in it, its limits, and how a process in it ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from frozenbench.canonical import BadInput
from frozenbench.sandbox.folders import readable
from frozenbench.sandbox.runtime import ENVIRONMENT, RUNTIME, environment_for, runtime_for, twin
from frozenbench.sandbox.users import User, unprivileged

#: Levels of isolation, weakest first.
#: none: the clock, the output cap and a clean environment. process: also limits of memory, size
#: and processes, and another user as root. userns: also namespaces of our own: no network, no
#: host files, no other processes. userns+cgroup: also a cap on total memory. container: a
#: container's.
LEVELS = ("none", "process", "userns", "userns+cgroup", "container")

#: Levels at which the process sees a file system of its own.
WALLED = ("userns", "userns+cgroup")

WORK = "/work"
HOME = "/home/agent"

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Mount:
    """A file or folder that the process sees at `target` (an absolute path), read-only by default.

    A Unix socket is one too: it is the metered way out, and needs no `writable`.
    """

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """What ends or bounds a process."""

    seconds: float | None = None  # wall clock from its start; None: no clock
    memory_bytes: int = 2 * GIB  # address space of each process
    processes: int = 128  # processes and threads at one time
    file_bytes: int = 64 * MIB  # size of each file that it writes
    output_bytes: int = MIB  # of its output, and of its report, that is kept
    work_bytes: int = 512 * MIB  # of its work folder in all
    work_files: int = 50_000  # files, folders and links in its work folder
    total_memory_bytes: int = 4 * GIB  # of all its processes together, behind walls


@dataclass(frozen=True)
class Box:
    """A place to run something in. Building one starts nothing."""

    level: str
    work: Path  # read-write at /work, where the process starts
    mounts: tuple[Mount, ...] = ()
    environment: Path | None = None  # a built pack environment
    limits: Limits = Limits()
    variables: Mapping[str, str] = field(default_factory=dict)
    network: str = "blocked"  # or "open": the host's network, for tasks that the config accepts

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise BadInput(f"isolation: {self.level} is no level; cure: one of {', '.join(LEVELS)}")
        for mount in self.mounts:
            path = PurePosixPath(mount.target)
            if not path.is_absolute() or ".." in path.parts or str(path) != mount.target:
                raise BadInput(f"mount: {mount.target} is not a plain absolute path")
        for name, value in self.variables.items():
            if not name or "=" in name or "\0" in name + value:
                raise BadInput(f"variable: {name!r} cannot be set in an environment")

    @property
    def walled(self) -> bool:
        """Whether the process sees a file system of its own."""
        return self.level in WALLED

    @property
    def user(self) -> User | None:
        """The user that the process gets, or None where it keeps ours."""
        return None if self.level == "none" else unprivileged()

    @property
    def python(self) -> str:
        """The Python of the pack environment, or the base Python, as the process sees it."""
        if self.environment is not None:
            return f"{self.seen(ENVIRONMENT)}/bin/python"
        runtime = runtime_for(self.user, moved=self.walled)
        return f"{runtime.inside}/bin/{runtime.name}" if self.walled else str(runtime.python)

    def seen(self, target: str) -> str:
        """Return where the process sees what a walled box shows at `target`.

        Outside walls that is the real path of the work folder, a mount, the environment or the
        runtime.
        """
        if self.walled:
            return target
        places = [WORK, ENVIRONMENT, RUNTIME, *(mount.target for mount in self.mounts)]
        inside = [place for place in places if target == place or target.startswith(place + "/")]
        if not inside:
            return target
        place = max(inside, key=len)
        return f"{self._outside(place)}{target.removeprefix(place)}"

    def _outside(self, place: str) -> Path:
        for mount in self.mounts:
            if mount.target == place:
                return readable(mount.source, self.user)
        if place == WORK:
            return self.work.resolve()
        runtime = runtime_for(self.user, moved=False)
        if place == RUNTIME:
            return runtime.folder
        if self.environment is None:
            raise BadInput(f"{place}: this box has no pack environment")
        return twin(environment_for(self.environment, self.user), runtime)

    def variables_inside(self, home: str = HOME) -> dict[str, str]:
        """Return the whole environment of the process: clean, the same on every machine."""
        search = dict.fromkeys([os.path.dirname(self.python), "/usr/bin", "/bin"])  # noqa: PTH120
        return {
            "PATH": ":".join(search),
            "HOME": home,
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.variables,
        }


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    A status above 128 of a walled process may be a shell's or the box's word for a signal, and
    is given as that signal. `resource_limit` is the field of Limits that ended the process where
    that can be told from outside: memory that runs out ends in the program's own error.
    """

    exit_status: int | None  # None: it was ended by a signal
    signal: int | None
    timed_out: bool  # the clock ended it, whatever the status
    resource_limit: str | None
    output: bytes  # both streams, cut after Limits.output_bytes, then TRUNCATED
    report: bytes
    seconds: float  # monotonic, from its start to its end
    truncated: bool = False


#: What stands behind output that was cut.
TRUNCATED = b"\n[truncated]\n"
