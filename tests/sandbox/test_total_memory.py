"""What all processes of a box hold together."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.canonical import Failed
from frozenbench.sandbox import Box, Limits, measure, start
from frozenbench.sandbox.cgroup import find_parent, limited_memory
from inside import alive, python

MIB = 1024 * 1024

#: Each of so many processes holds 60 MiB; with "shared" they got them from the first by fork.
HOLD = """
import os, sys, time
shared = sys.argv[1] == "shared"
held = os.urandom(1 << 20) * 60 if shared else b""
for _ in range(6):
    if os.fork() == 0:
        held = held or os.urandom(1 << 20) * 60
        time.sleep(float(sys.argv[2]))
        os._exit(0)
for _ in range(6):
    os.wait()
print("done")
"""


def test_many_processes_together_are_ended(walled: MakeBox) -> None:
    box = walled(limits={"total_memory_bytes": 200 * MIB})
    ended = python(box, HOLD, "own", "75.5")
    assert ended.resource_limit == "total_memory_bytes"
    assert (ended.signal, ended.timed_out) == (signal.SIGKILL, False)
    assert ended.seconds < 8
    assert not alive("75.5")


def test_memory_that_is_shared_counts_once(walled: MakeBox) -> None:
    box = walled(limits={"total_memory_bytes": 200 * MIB})
    ended = python(box, HOLD, "shared", "1.2")
    assert (ended.exit_status, ended.resource_limit) == (0, None)


def test_a_partner_is_watched_while_it_is_waited_for(walled: MakeBox) -> None:
    box = walled(limits={"total_memory_bytes": 200 * MIB})
    with start(box, [box.python, "-c", HOLD, "own", "76.5"]) as running:
        assert running.read_line(time.monotonic() + 10) is None
        assert running.ended is not None
        assert running.ended.resource_limit == "total_memory_bytes"


def test_a_group_ends_what_is_beyond(work: Path) -> None:
    if not measure().memory_cgroup:
        pytest.skip(f"no memory cgroup can be had here: {find_parent()[1]}")
    limits = Limits(seconds=20, total_memory_bytes=200 * MIB)
    ended = python(Box("userns+cgroup", work, limits=limits), HOLD, "own", "77.5")
    assert ended.resource_limit == "total_memory_bytes"


def groups(tmp_path: Path, controllers: str, passed: str, own: str) -> tuple[Path, Path]:
    """Lay out files as the kernel shows control groups."""
    root = tmp_path / "groups"
    (root / own.strip("/")).mkdir(parents=True)
    above = root / own.strip("/") if own == "/" else (root / own.strip("/")).parent
    (root / "cgroup.controllers").write_text(controllers)
    for file, text in (("cgroup.subtree_control", passed), ("cgroup.procs", "")):
        (above / file).write_text(text)
    mounts, ours = tmp_path / "mountinfo", tmp_path / "cgroup"
    line = f"30 24 0:26 / {root} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    mounts.write_text(f"24 1 8:1 / / rw - ext4 /dev/sda rw\n{line}")
    ours.write_text(f"4:memory:/elsewhere\n0::{own}\n")
    return mounts, ours


@pytest.mark.parametrize(
    ("controllers", "passed", "own", "found"),
    [
        ("cpu memory pids", "memory pids", "/app.slice/run-1.scope", "app.slice"),
        ("cpu memory", "memory", "/", "."),
        ("cpu memory pids", "pids", "/app.slice/run-1.scope", "does not pass"),
        ("hugetlb", "", "/", "no memory controller"),
    ],
)
def test_a_place_for_groups_is_found_by_what_it_passes_on(
    tmp_path: Path, controllers: str, passed: str, own: str, found: str
) -> None:
    parent, why = find_parent(*groups(tmp_path, controllers, passed, own))
    if parent is None:
        assert found in why
    else:
        assert parent == (tmp_path / "groups" / found).resolve()


def test_without_control_groups_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text("24 1 8:1 / / rw - ext4 /dev/sda rw\n")
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    parent, why = find_parent(tmp_path / "mountinfo", tmp_path / "cgroup")
    assert parent is None
    assert "version 2" in why


def test_a_folder_that_is_no_group_is_left_clean(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="memory cgroup"), limited_memory(tmp_path, MIB):
        pass
    assert list(tmp_path.iterdir()) == []
