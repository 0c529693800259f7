"""The replay of single cells, in processes of their own: what a worker of `replay` does.

A worker stands in the replay's own project folder, whose store is empty but for the record. It has
no key in its environment, and its cells ask nobody: what is not recorded is a miss.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from frozenbench import layout
from frozenbench.freeze_expected import freeze_expected
from frozenbench.grade_cell import GradeInputs, grade_cell
from frozenbench.process import follow
from frozenbench.run_cell import RunInputs, run_cell


@dataclass(frozen=True)
class Bench:
    """What all cells of a replay share; paths are relative to its folder or absolute.

    Attributes:
        controls: the experiment's controls.
        environment: the pack environment.
        names: its modules and names.
        isolation: the level of all boxes.
    """

    controls: Path
    environment: Path
    names: Path
    isolation: str


@dataclass(frozen=True)
class Grading:
    """One task's frozen files, and where its expected ids belong."""

    task_files: Path
    grader_files: Path
    expected: Path


@dataclass(frozen=True)
class Replay:
    """One cell to be replayed."""

    agent: str
    task: str
    budget: str
    repeat: int
    run_key: str
    grade_key: str
    grading: Grading
    agent_files: Path | None
    solution: Path | None
    startup_timeout_s: float


def enter(parent: int, folder: Path, key_names: Iterable[str]) -> None:
    """Begin a worker: in the replay's folder, without keys and network, gone when its parent is."""
    follow(parent)  # in its parent's group: an interrupt from the keyboard reaches both
    os.chdir(folder)
    for name in key_names:
        os.environ.pop(name, None)
    sys.addaudithook(_refuse_network)


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse a connection to any host, whatever asks for one; sockets of this machine's files stay."""
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        raise ConnectionRefusedError("a replay asks nobody")


def expect(bench: Bench, grading: Grading) -> None:
    """Find the expected ids of a task's grader."""
    files = (grading.grader_files, grading.task_files)
    freeze_expected(*files, bench.environment, bench.isolation, grading.expected)


def replay_cells(bench: Bench, cells: tuple[Replay, ...]) -> dict[str, str]:
    """Replay cells one after the other; return grade key -> what kept a cell from it."""
    return {
        cell.grade_key: f"{type(error).__name__}: {error}"
        for cell in cells
        if (error := _replay(bench, cell)) is not None
    }


def _replay(bench: Bench, cell: Replay) -> Exception | None:
    """Run and grade one cell; a fault of one ends no other."""
    names = {"agent": cell.agent, "task": cell.task, "budget": cell.budget, "repeat": cell.repeat}
    run = RunInputs(
        controls=bench.controls,
        task_files=cell.grading.task_files,
        agent_files=cell.agent_files,
        solution=cell.solution,
        environment=bench.environment,
        startup_timeout_s=cell.startup_timeout_s,
        replay=True,
        **names,  # type: ignore[arg-type]
    )
    grade = GradeInputs(
        controls=bench.controls,
        run=layout.run(cell.run_key),
        task_files=cell.grading.task_files,
        grader_files=cell.grading.grader_files,
        expected=cell.grading.expected,
        names=bench.names,
        environment=bench.environment,
        **names,  # type: ignore[arg-type]
    )
    try:
        if not (layout.run(cell.run_key) / "run.json").exists():  # two cells may have one run
            run_cell(run, layout.run(cell.run_key))
        grade_cell(grade, layout.grade(cell.grade_key))
    except Exception as error:
        return error
    return None
