"""A killed cell leaves no process and no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MakeBox
from frozenbench.sandbox import base_folder, measure, work_folder
from inside import alive, comes_true, gone

CELL = """
import sys
from pathlib import Path
from frozenbench.sandbox import Box, Limits, run, start, work_folder
level, how, mark = sys.argv[1:]
with work_folder() as work:
    (work / "content").mkdir()
    box = Box(level, work, limits=Limits(seconds=None))
    script = f"trap '' TERM HUP INT; (setsid sh -c 'sleep {mark}; :' &); echo on; sleep {mark}; :"
    if how == "run":
        run(box, ["sh", "-c", script])
    else:
        running = start(box, ["sh", "-c", script])
        while True:
            running.wait(float("inf"))
"""


@pytest.mark.parametrize("how", ["run", "start"])
@pytest.mark.parametrize("level", ["userns", "process", "none"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_cell(level: str, how: str, number: signal.Signals) -> None:
    if level == "userns" and measure().level == "process":
        pytest.skip("this machine gives process, this test needs userns")
    mark = f"{7000 + os.getpid() % 1000}.{number}{len(level)}{len(how)}"
    cell = subprocess.Popen([sys.executable, "-c", CELL, level, how, mark])
    try:
        assert comes_true(lambda: len(alive(f"sleep\0{mark}")) == 2)
        cell.send_signal(number)
        cell.wait(10)
        assert gone(mark)
    finally:
        cell.kill()
        cell.wait()
    with work_folder():
        # A sweep by another process may be under way; it ends as this one does.
        assert comes_true(lambda: work_of(cell.pid) == [])


def work_of(process: int) -> list[Path]:
    return sorted((base_folder() / "work").glob(f"{process}-*"))


def test_what_a_dead_owner_left_is_swept_at_every_stage() -> None:
    with work_folder() as work:
        above = work.parent.parent
        for number, stage in enumerate(("disk", "between", "staged"), 1):
            holder = above / f"{os.getpid()}-dead{number}"
            folder = holder if stage == "disk" else holder.with_suffix(".disk")
            (folder / "work" / "content").mkdir(parents=True)
            if stage != "disk":
                holder.with_suffix(".held").symlink_to("3 4 5")
            if stage == "staged":
                holder.symlink_to("/proc/1/fd/987654")
            holder.with_suffix(".lock").touch()
    with work_folder():
        assert comes_true(lambda: list(above.glob(f"{os.getpid()}-dead*")) == [])


def test_the_work_of_a_living_cell_is_left_alone(work: Path, make_box: MakeBox) -> None:
    (work / "kept").touch()
    script = "from frozenbench.sandbox import work_folder\nwith work_folder() as w: print(w)"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert not Path(other.stdout.decode().strip()).exists()
    assert (work / "kept").exists()
