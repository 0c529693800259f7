"""`frozenbench sandbox`: what isolation this machine gives, and how to get more."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from frozenbench.sandbox import (
    LEVELS,
    Limits,
    Measurement,
    measure,
    missing_group,
    missing_walls,
    require,
)

_GIB, _MIB = 1024**3, 1024**2


@dataclass(frozen=True)
class Line:
    """One thing: its name, what is here, and (None: nothing is missing) how to get more."""

    name: str
    here: str
    more: str | None = None


def sandbox_report(level: str | None = None, *, as_json: bool = False) -> Iterator[str]:
    """Yield the lines of a table, or JSON, of what a fresh measurement finds.

    Raises:
        BadInput: there is no such level.
        Refused: this machine gives less than `level`.
    """
    told = measure(refresh=True)
    if level is not None:
        require(level)
    lines = list(_lines(told))
    if as_json:
        yield json.dumps(_document(told, lines), indent=2)
        return
    width = max(len(line.name) for line in lines) + 2
    for line in lines:
        yield f"{line.name:<{width}}{line.here}"
    missing = [line for line in lines if line.more is not None]
    if missing:
        yield ""
        yield "how to get more:"
    for line in missing:
        yield f"  {line.name}: {line.more}"


def _document(told: Measurement, lines: list[Line]) -> dict[str, Any]:
    missing = {line.name: line.more for line in lines if line.more is not None}
    kernel = f"{os.uname().release} {os.uname().machine}"
    return {**asdict(told), "kernel": kernel, "limits": asdict(Limits()), "missing": missing}


def _lines(told: Measurement) -> Iterator[Line]:
    walls = LEVELS.index(told.level) >= LEVELS.index("userns")
    yield Line("isolation", told.level, missing_walls())
    yield Line("kernel", f"{os.uname().release} {os.uname().machine}")
    yield Line("bubblewrap", told.bubblewrap or "none that runs")
    filtered = "on" if told.seccomp else "off"
    more = None
    if walls and not told.seccomp:
        more = "frozenbench has a filter for x86-64 and ARM64 alone"
    yield Line("seccomp filter", filtered, more)
    yield Line(
        "user of boxes",
        "another than yours"
        if told.other_uid
        else "yours, in a user namespace"
        if walls
        else "yours",
    )
    yield _work(told, walls)
    yield _memory(told, walls)
    if walls:
        more = None if told.paths_hidden else "Linux 5.11 or newer with overlayfs"
        yield Line(
            "paths of this machine", "hidden" if told.paths_hidden else "seen in mounts", more
        )


def _work(told: Measurement, walls: bool) -> Line:
    limits = Limits()
    size = f"{limits.work_bytes // _MIB} MiB and {limits.work_files:,} names"
    if told.sized_work:
        return Line("work folder", f"{size}, kept by the kernel (a tmpfs of its own)")
    more = "user namespaces in which tmpfs can be mounted" if walls else None
    return Line("work folder", f"{size}, watched from outside: what is beyond ends the cell", more)


def _memory(told: Measurement, walls: bool) -> Line:
    most = f"{Limits().total_memory_bytes // _GIB} GiB"
    if told.memory_cgroup:
        return Line(
            "total memory", f"{most}, kept by a memory cgroup at userns+cgroup, else watched"
        )
    if walls:
        here = f"{most}, watched from outside: what is beyond ends the cell"
        return Line("total memory", here, missing_group())
    return Line("total memory", f"no limit, only {Limits().memory_bytes // _GIB} GiB a process")
