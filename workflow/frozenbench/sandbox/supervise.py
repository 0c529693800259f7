"""Runs one command so that nothing of it outlives it, where there are no namespaces.

Started as a script by an isolated interpreter: `python -I -S supervise.py DESCRIPTOR`, with its
orders as JSON behind the descriptor. It adopts every process that the command leaves behind and
ends them all when the command ends, at SIGTERM, and when its own parent dies.
"""

# The os module here: the start of this script is paid for each process.
# ruff: noqa: PTH100, PTH116, PTH118, PTH120, PTH208
from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

if __name__ == "__main__":  # a script, which finds nothing of the package
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.append(os.path.join(package, "inside"))
    from descendants import (  # type: ignore[import-not-found]
        adopt_orphans,
        descendants,
        end_descendants,
    )
else:
    from frozenbench.inside.descendants import adopt_orphans, descendants, end_descendants

_SET_PDEATHSIG, _SET_NO_NEW_PRIVS = 1, 38  # linux/prctl.h
#: How often the processes of the command are counted, s.
_COUNT_EVERY = 0.1
#: The hard wall is per user and so is shared with others: this times the limit, beyond what runs.
_ROOM = 8


def main() -> None:
    """Read the orders, run the command, end all that it left, report how it ended."""
    with os.fdopen(int(sys.argv[1]), "rb") as handle:
        orders: dict[str, Any] = json.load(handle)
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    if os.getppid() != orders["parent"]:
        return  # it died before its death could be told
    child = os.fork()
    if child == 0:
        _become(orders)
    for descriptor in orders["keep"]:
        os.close(descriptor)
    for stream in (0, 1, 2):
        os.close(stream)  # held here they would hide that the command has closed them
    status, limit = _watch(child, orders["limits"])
    end_descendants()
    report = {"exit-code": os.waitstatus_to_exitcode(status) if status is not None else None}
    os.write(orders["status"], json.dumps(report | {"limit": limit}).encode() + b"\n")


def _prctl(option: int, value: int) -> None:
    """Set a property of this process; where the system has no prctl the level is `none`."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _become(orders: dict[str, Any]) -> None:
    """Turn this fork into the command, with its limits and its user; never return."""
    try:
        os.setsid()
        os.close(orders["status"])
        if orders["limits"] is not None:
            _limit(orders["limits"], orders["user"])
            _prctl(_SET_NO_NEW_PRIVS, 1)
        if orders["user"] is not None:
            uid, gid = orders["user"]
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        os.chdir(orders["folder"])
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(orders["argv"][0], orders["argv"], orders["variables"])
    except BaseException as error:
        os.write(2, f"{orders['argv'][0]}: cannot be run: {error}\n".encode())
    os._exit(127)


def _limit(limits: dict[str, int], user: list[int] | None) -> None:
    uid = os.geteuid() if user is None else user[0]
    for which, value in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, tasks_of(uid) + _ROOM * limits["processes"]),
    ):
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def tasks_of(uid: int) -> int:
    """Count the processes and threads of a user: each is a folder below /proc/PID/task."""
    count = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += os.stat(f"/proc/{name}/task").st_nlink - 2
    return count


def _watch(child: int, limits: dict[str, int] | None) -> tuple[int | None, str | None]:
    """Wait for the command, SIGTERM or too many processes; return wait status and the limit."""
    while True:
        waited = signal.sigtimedwait({signal.SIGCHLD, signal.SIGTERM}, _COUNT_EVERY)
        if waited is not None and waited.si_signo == signal.SIGTERM:
            return None, None
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1], None
        if limits is not None and len(descendants()) > limits["processes"]:
            return None, "processes"


if __name__ == "__main__":
    main()
