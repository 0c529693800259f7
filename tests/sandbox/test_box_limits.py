"""Memory, file size, processes: what bounds a process that wants too much."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.sandbox import run, start
from inside import alive, gone, python, said

MIB = 1024 * 1024
LIMITED = ["userns", "process"]

BOMB = """
import os, sys, time
made = 0
while True:
    try:
        if os.fork() == 0:
            time.sleep(67.5)
            os._exit(0)
        made += 1
    except OSError as error:
        print(made, type(error).__name__, flush=True)
        break
"""


@pytest.mark.parametrize("level", LIMITED)
def test_memory_of_a_process_is_bounded(make_box: MakeBox, walled: MakeBox, level: str) -> None:
    code = """
try:
    held = bytes(700 << 20)
except MemoryError:
    print("refused")
held = bytes(100 << 20)
print("granted")
"""
    box = make_box(level, limits={"memory_bytes": 512 * MIB})
    assert said(python(box, code)).split() == ["refused", "granted"]


@pytest.mark.parametrize("level", LIMITED)
def test_a_file_cannot_grow_beyond_its_limit(
    walled: MakeBox, make_box: MakeBox, work: Path, level: str
) -> None:
    box = make_box(level, limits={"file_bytes": MIB})
    code = """
try:
    with open("large", "wb") as file:
        file.write(bytes(3 << 20))
except OSError as error:
    print(error.strerror)
"""
    assert said(python(box, code)) == "File too large\n"
    assert (work / "large").stat().st_size == MIB
    ended = run(box, ["sh", "-c", "cat /dev/zero > large"])
    # A shell outlives its child and tells of it; a process that is ended itself is told here.
    assert ended.signal == signal.SIGXFSZ
    assert ended.resource_limit == "file_bytes"
    assert (work / "large").stat().st_size == MIB


@pytest.mark.parametrize("level", LIMITED)
def test_no_core_is_left(walled: MakeBox, make_box: MakeBox, work: Path, level: str) -> None:
    python(make_box(level), "import os; os.abort()")
    assert list(work.iterdir()) == []


def test_processes_are_counted_for_each_box_alone(walled: MakeBox) -> None:
    box = walled(limits={"processes": 20})
    with start(box, [box.python, "-c", BOMB + "time.sleep(67.5)"]) as first:
        line = first.read_line(time.monotonic() + 10)
        assert line is not None
        made, error = line.split()
        assert error == b"BlockingIOError"
        assert 15 <= int(made) < 20
        assert len(alive("67.5")) >= int(made)
        second = said(python(box, BOMB))
        assert second.split()[0] == made.decode()
    assert gone("67.5", 0)


def test_a_fork_bomb_ends_with_its_box(walled: MakeBox) -> None:
    box = walled(seconds=1.5, limits={"processes": 64})
    started = time.monotonic()
    ended = run(box, ["sh", "-c", "f() { f | f & f; }; echo 68.5; f 2>/dev/null; sleep 68.5"])
    assert time.monotonic() - started < 6
    assert ended.output.startswith(b"68.5\n")
    assert gone("68.5", 0)


def test_without_walls_too_many_processes_end_it(make_box: MakeBox) -> None:
    box = make_box("process", limits={"processes": 20})
    ended = python(box, BOMB.replace("made += 1", "made += 1; time.sleep(0.01)") + "time.sleep(69)")
    assert ended.resource_limit == "processes"
    assert (ended.signal, ended.timed_out) == (signal.SIGKILL, False)
    assert gone("67.5", 0)


def test_without_walls_a_fork_bomb_is_bounded(make_box: MakeBox) -> None:
    box = make_box("process", 10, limits={"processes": 20})
    started = time.monotonic()
    ended = run(box, ["sh", "-c", "f() { f | f & f; }; f 2>/dev/null"])
    assert time.monotonic() - started < 8
    assert ended.resource_limit == "processes" or ended.exit_status is not None
    assert not alive("f | f & f")


@pytest.mark.parametrize("level", LIMITED)
def test_as_root_a_process_is_somebody_else(
    walled: MakeBox, make_box: MakeBox, work: Path, level: str
) -> None:
    """And so is bubblewrap itself, which is never started as root."""
    ours = os.geteuid()
    other = 65534 if ours == 0 else ours
    with start(make_box(level), ["sh", "-c", "touch file; echo; sleep 70.5"]) as running:
        assert running.read_line(time.monotonic() + 10) == b""
        assert (work / "file").stat().st_uid == other
        owners = {Path("/proc", str(process)).stat().st_uid for process in alive("70.5")}
    assert owners == {other}
