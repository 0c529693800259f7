"""What isolation this machine gives: found by running a box, never by looking for a program."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import (
    BadInput,
    Failed,
    FrozenbenchError,
    Refused,
    digest,
    write_json,
)
from frozenbench.sandbox import bubblewrap, cgroup
from frozenbench.sandbox.box import LEVELS, Box, Limits
from frozenbench.sandbox.child import Child
from frozenbench.sandbox.folders import base_folder, private_folder, work_folder
from frozenbench.sandbox.launch import Walls, launched
from frozenbench.sandbox.users import User, unprivileged

#: Raised when the probe or what it stores changes.
_PROBE = 4

#: An odd number of files, by which the probe knows its own work folder.
_PROBE_FILES = 3001

#: Settings of the kernel and of distributions that decide about user namespaces.
_SETTINGS = (
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
)

#: How to get a memory cgroup.
GROUP_CURE = (
    "on a machine with systemd and control groups of version 2 start the workflow by "
    "`systemd-run --user --scope snakemake …` (as root: `systemd-run --scope snakemake …`)"
)

#: Runs inside: prints what it could reach. Everything but the last three must be false.
_INSIDE = r"""
import json, os, socket, sys
def reached(what):
    try:
        what()
    except OSError:
        return False
    return True
host = lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close()
told = {
    "the network of the host": reached(host),
    "the settings of the kernel": reached(lambda: open("/proc/sys/kernel/core_pattern", "r+b")),
    "the system's files": reached(lambda: open("/usr/.frozenbench", "wb")),
    "processes of the host": os.path.exists("/proc/%s" % sys.argv[2]),
    "another user": os.getuid() != 1000,
    "seccomp": not reached(lambda: socket.socket(16, socket.SOCK_RAW).close()),
    "sized": os.statvfs(".").f_files == int(sys.argv[3]),
    "veiled": any(" / /usr " in line and " - overlay " in line for line in open("/proc/self/mountinfo")),
}
open("probe", "w").close()
print(json.dumps(told))
"""


@dataclass(frozen=True)
class Measurement:
    """The best level of this machine, and what stands behind it. Holds no path."""

    level: str
    bubblewrap: str | None  # version
    other_uid: bool  # boxed processes have another uid than we: as real root only
    seccomp: bool
    memory_cgroup: bool  # to be had, and used where the level asks for it; else memory is watched
    notes: tuple[str, ...]
    sized_work: bool = False  # the kernel limits the work folder; else it is watched
    paths_hidden: bool = False  # what is mounted tells no path of this machine


@dataclass(frozen=True)
class _Found:
    measurement: Measurement
    binary: str | None
    failures: tuple[str, ...]  # for people: may hold paths
    group: str | None = None


def measure(refresh: bool = False) -> Measurement:
    """Return what this machine gives, from this boot's earlier answer unless `refresh`."""
    return _found(refresh).measurement


def require(level: str) -> Measurement:
    """Return the measurement, if the machine gives `level` or more.

    Raises:
        BadInput: there is no such level.
        Refused: the machine gives less; with what is missing, the cure, and the line of the
            config that accepts less.
    """
    return _required(level).measurement


def _required(level: str) -> _Found:
    if level not in LEVELS:
        raise BadInput(f"isolation: {level} is no level; cure: one of {', '.join(LEVELS)}")
    found = _found(False)
    if _gives(found.measurement, level):
        return found
    # What was missing may have been mended since.
    found = _found(True)
    if _gives(found.measurement, level):
        return found
    raise Refused(_refusal(level, found))


def walls_for(level: str) -> Walls:
    """Return what walls are made of here.

    Raises:
        Refused: this machine does not give `level`.
    """
    found = _required(level)
    told = found.measurement
    group = None if found.group is None else Path(found.group)
    return Walls(Path(str(found.binary)), told.sized_work, told.paths_hidden, group=group)


def missing_walls() -> str | None:
    """Return why this machine gives no walls and how to get them, or None where it does."""
    found = _found(False)
    if _gives(found.measurement, "userns"):
        return None
    return f"{'; '.join(found.failures)}; cure: {_cure(found)}"


def missing_group() -> str | None:
    """Return why boxes can have no memory cgroup and how to get one, or None where they can."""
    if _found(False).measurement.memory_cgroup:
        return None
    return f"{cgroup.find_parent()[1] or 'none works'}; cure: {GROUP_CURE}"


def _gives(measurement: Measurement, level: str) -> bool:
    return LEVELS.index(measurement.level) >= LEVELS.index(level)


def _found(refresh: bool) -> _Found:
    path = private_folder(base_folder() / "state") / f"isolation-{_situation()}.json"
    if not refresh and path.exists():
        with suppress(ValueError, KeyError, TypeError):  # not of our making: measure again
            return _stored(json.loads(path.read_bytes()))
    found = _probe_all()
    write_json(path, asdict(found))
    return found


def _stored(value: dict[str, Any]) -> _Found:
    told = value["measurement"] | {"notes": tuple(value["measurement"]["notes"])}
    return _Found(Measurement(**told), value["binary"], tuple(value["failures"]), value["group"])


def _situation() -> str:
    """Return a digest of all that the answer depends on and that can be looked up cheaply."""
    named: list[Any] = [_PROBE, os.geteuid(), os.getgroups(), os.uname().release, sys.version]
    named += [sys.prefix, sys.base_prefix, os.environ.get("PATH", "")]
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin"]:
        try:
            status = os.stat(os.path.join(folder, "bwrap"))  # noqa: PTH116, PTH118
        except OSError:
            continue
        named.append([folder, status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns])
    named.append(str(cgroup.find_parent()[0]))
    for file in ("/proc/sys/kernel/random/boot_id", "/proc/self/uid_map", *_SETTINGS):
        named.append(_text(file))
    return digest(named)[:24]


def _text(file: str) -> str | None:
    try:
        return Path(file).read_text("ascii").strip()
    except OSError:
        return None


def _probe_all() -> _Found:
    user = unprivileged()
    failures = []
    if sys.platform != "linux":
        only = Measurement("none", None, False, False, False, (f"no walls on {sys.platform}",))
        return _Found(only, None, (f"{sys.platform} has no user namespaces",))
    group, _ = cgroup.find_parent()
    for binary in bubblewrap.candidates(user):
        try:
            told = _probed(binary, user, group)
        except FrozenbenchError as error:
            failures.append(f"{binary}: {error}")
            continue
        above = str(group) if told.memory_cgroup else None
        return _Found(told, str(binary), tuple(failures), above)
    missing = failures or ["bubblewrap is not installed"]
    least = Measurement("process", None, user is not None, False, False, ("no walls",))
    return _Found(least, None, tuple(missing))


def _probed(binary: Path, user: User | None, group: Path | None) -> Measurement:
    """Return what boxes of this bubblewrap hold: the strongest kind that runs.

    Raises:
        Failed: none does, or something outside was reached.
    """
    version = _version(binary, user)
    notes = []
    for sized, veiled in ((True, True), (True, False), (False, False)):
        try:
            seccomp = _probe(Walls(binary, sized, veiled, strict=True), "userns")
        except Failed as error:
            if not sized:
                raise
            notes.append(
                f"{'no overlay' if veiled else 'no file system for work'}: {_plain(error)}"
            )
            continue
        break
    level = "userns"
    if group is not None:
        try:
            _probe(Walls(binary, sized, veiled, group=group), "userns+cgroup")
            level = "userns+cgroup"
        except Failed as error:
            notes.append(f"no memory cgroup: {_plain(error)}")
    if level == "userns":
        notes.append("the total memory of a cell is watched, not capped: there is no memory cgroup")
    if not sized:
        notes.append("the size of a work folder is watched, not capped")
    if not seccomp:
        notes.append(f"no seccomp filter for {os.uname().machine}")
    if user is None:
        notes.append("boxed processes have the uid of the user who runs them")
    other = user is not None
    cap = level == "userns+cgroup"
    return Measurement(level, version, other, seccomp, cap, tuple(notes), sized, veiled)


def _plain(error: Failed) -> str:
    """Return an error without the paths in it."""
    return re.sub(r"[^ ]*/[^ ]*", "…", str(error))[:200]


def _version(binary: Path, user: User | None) -> str:
    import subprocess

    try:
        done = subprocess.run(
            [binary, "--version"],
            capture_output=True,
            timeout=10,
            check=True,
            user=None if user is None else user.uid,
            group=None if user is None else user.gid,
            extra_groups=None if user is None else [],
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Failed(f"does not run ({error})") from error
    found = re.search(rb"[0-9]+(?:\.[0-9]+)+", done.stdout)
    return "unknown" if found is None else found[0].decode("ascii")


def _probe(walls: Walls, level: str) -> bool:
    """Run a box that tries to get out; return whether its seccomp filter holds.

    Raises:
        Failed: it does not run, something outside was reached, or a limit is not there.
    """
    import socket  # only a probe pays for it

    with work_folder() as work, socket.create_server(("127.0.0.1", 0)) as listener:
        box = Box(level, work, limits=Limits(seconds=20, work_files=_PROBE_FILES))
        argv = [box.python, "-I", "-S", "-c", _INSIDE, str(listener.getsockname()[1])]
        argv += [str(os.getpid()), str(_PROBE_FILES + 3)]
        with launched(box, argv, walls=walls) as child:
            told = _told(child)
            if not (work / "probe").is_file():
                raise Failed("the work folder cannot be written inside")
    seccomp, sized, veiled = (bool(told.pop(name)) for name in ("seccomp", "sized", "veiled"))
    if walls.sized and not sized:
        raise Failed("the work folder has no size of its own")
    if walls.veiled and not veiled:
        raise Failed("paths of this machine are seen")
    if leaks := [name for name, reached in told.items() if reached]:
        raise Failed(f"its box reaches {', '.join(leaks)}")
    return seccomp


def _told(child: Child) -> dict[str, bool]:
    child.pump(lambda: child.ended_at is not None, child.started + 20)
    ended = child.finish()
    try:
        told: dict[str, bool] = json.loads(ended.output)
    except ValueError:
        text = ended.output.decode("utf-8", "replace").strip()
        raise Failed(f"its box does not run ({text or ended})") from None
    return told


def _refusal(level: str, found: _Found) -> str:
    given = found.measurement.level
    if _gives(found.measurement, "userns") and level == "userns+cgroup":
        return (
            f"isolation: {level} cannot be had here: {cgroup.find_parent()[1] or 'none works'}"
            f"; cure: {GROUP_CURE}. Or accept less by the line `isolation: {given}` in the config: "
            "then the total memory of a cell is watched from outside, not capped by the kernel"
        )
    if _gives(found.measurement, "userns"):
        return (
            f"isolation: {level} cannot be had: this version of frozenbench makes boxes up to "
            f"{given}; cure: `isolation: {given}` in the config"
        )
    why = "; ".join(found.failures)
    return (
        f"isolation: {level} cannot be had here: this machine gives {given} ({why}). "
        f"Cure: {_cure(found)}. Or accept less by the line `isolation: {given}` in the config: "
        "then nothing keeps agents from the network and from files of this machine, and scores "
        "are never compared with those of another level"
    )


def _cure(found: _Found) -> str:
    if sys.platform != "linux":
        return "run on Linux"
    if found.failures == ("bubblewrap is not installed",):
        return "install bubblewrap (Debian, Ubuntu, Fedora, Arch: the package `bubblewrap`)"
    clone, restricted, most = _SETTINGS[1], _SETTINGS[2], _SETTINGS[0]
    if _text(restricted) == "1":
        return (
            "Ubuntu keeps user namespaces from programs without an AppArmor profile: give bwrap "
            "one with `userns,`, or `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        )
    if _text(clone) == "0":
        return "`sudo sysctl kernel.unprivileged_userns_clone=1`"
    if _text(most) == "0":
        return "`sudo sysctl user.max_user_namespaces=15000`"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "start the container with `--security-opt seccomp=unconfined "
            "--security-opt systempaths=unconfined` (and `apparmor=unconfined` where there is one)"
        )
    return "install bubblewrap 0.8 or newer and allow unprivileged user namespaces"


def oom_kills(vmstat: Path = Path("/proc/vmstat")) -> int:
    """Return how many processes the kernel ended for want of memory since it booted.

    Only this tells a kill by the system from a process that killed itself.
    """
    if not vmstat.exists():
        return 0
    for line in vmstat.read_text().splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0


def in_force(asked: str, measured: str) -> str:
    """Return the level that holds: a box gives what was asked for, if the machine has as much."""
    return min(asked, measured, key=LEVELS.index)
