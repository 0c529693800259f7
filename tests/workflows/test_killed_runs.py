"""SIGKILL at any moment: nothing is left running, and two lines bring the undisturbed result."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable

import pytest
from project import Project, environment
from run_processes import adopting, descendants, kill_at_once, left_over

Moment = Callable[[Project], bool]
LOG = "killed.log"

#: What the README says to do after a killed run, before it is run again.
UNLOCK = ("--unlock",)

#: Rules at whose jobs a run is killed in the soak, the later ones once each.
RULES = ["freeze_task", "freeze_expected"] + 6 * ["run_cell"] + 6 * ["grade_cell"]
RULES += ["collect_cells", "contrast", "draw_figure", "write_page", "publish", "check_score"]


def begins(rule: str, number: int = 1) -> Moment:
    """The moment at which job `number` of `rule` begins."""
    return lambda project: (project / LOG).read_text().count(f": {rule}: ") >= number


def appears(pattern: str) -> Moment:
    """The moment at which a file is written by a job that has not ended yet."""
    return lambda project: any((project / "results").glob(pattern))


def kill_at(project: Project, moment: Moment, delay: float, whole_tree: bool) -> None:
    """Start the workflow and kill it `delay` seconds after a moment."""
    ours = descendants(os.getpid())  # of other tests: a pool's tracker lives as long as we do
    with (project / LOG).open("w") as said:
        run = subprocess.Popen(
            project.command(),
            cwd=project.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
        )
    began = time.monotonic()
    while not moment(project):
        assert run.poll() is None, (project / LOG).read_text()
        assert time.monotonic() - began < 120
        time.sleep(0.002)
    time.sleep(delay)
    assert run.poll() is None, "the run ended before it was killed"
    kill_at_once(run, whole_tree)
    left = left_over(within=5, but=ours)
    assert left == []


def finished(project: Project) -> int:
    return len(list((project / "results").glob("runs/*/run.json")))


def goes_on(project: Project) -> None:
    """Do what the README says, and find all as if nothing had happened."""
    locked = project.snakemake()
    assert locked.status != 0
    assert "--unlock" in locked.said
    done = finished(project)
    project.succeeds(*UNLOCK)
    ran = project.succeeds()
    assert len(ran.runs) <= 16 - done + 2  # a job that was running may have written its file


def is_as_undisturbed(project: Project, base: Project) -> None:
    assert project.cells() == base.cells()
    assert set(project.published()) == set(base.published())
    assert project.due().rules == {}
    verified = project.frozenbench("verify")
    assert verified.status == 0, verified.said


@pytest.mark.parametrize(
    ("moments", "delay", "whole_tree"),
    [
        ([begins("run_cell", 7)], 0.1, True),
        ([begins("grade_cell", 5)], 0.2, False),
        ([appears("experiments/*/refusals.json"), begins("publish")], 0.0, True),
    ],
    ids=["run", "grade", "table and publish"],
)
def test_a_killed_run_goes_on(
    fresh: Project, base: Project, moments: list[Moment], delay: float, whole_tree: bool
) -> None:
    with adopting():
        for number, moment in enumerate(moments):
            if number:
                fresh.succeeds(*UNLOCK)
            kill_at(fresh, moment, delay, whole_tree)
    goes_on(fresh)
    is_as_undisturbed(fresh, base)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_run_killed_at_a_random_moment_goes_on(fresh: Project, base: Project, seed: int) -> None:
    chance = random.Random(seed)
    rule = RULES[seed]
    most = {"run_cell": 15, "grade_cell": 15, "freeze_task": 2, "freeze_expected": 2}
    number = chance.randint(1, most.get(rule, 1))
    late = 0.04 if rule in ("publish", "check_score") else 0.4
    with adopting():
        kill_at(fresh, begins(rule, number), chance.random() * late, chance.random() < 0.5)
    goes_on(fresh)
    is_as_undisturbed(fresh, base)
