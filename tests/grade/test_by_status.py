"""Graders without test ids: a command is green by its exit status and the harness's end mark."""

from __future__ import annotations

import time
from typing import Any

import pytest
from cell_project import RIGHT, CellProject, processes_with
from frozenbench.grade.evidence import Verdict

#: Seconds within which a grade must end after its clock fell.
BOUND = 3.0


def by_status(cells: CellProject, grade: list[str], **line: Any) -> None:
    script = "from app import add\nimport sys\nsys.exit(0 if add(1, 2) == 3 else 3)\n"
    hidden = {"check.py": script, "check.sh": "#!/bin/sh\npython check.py && echo fine\n"}
    cells.task(hidden=hidden, grade=grade, grader_trust="exit-status", **line)
    cells.lines["add"]["hidden"] = [*hidden]
    (cells.root / "packs/small/check.sh").chmod(0o755)


COMMANDS = {
    "python": ["python", "check.py"],
    "python3": ["python3", "check.py"],
    "shell": ["sh", "-c", "python check.py && echo fine"],
    "hidden program": ["./check.sh"],
    "pytest": ["pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "app.py"],
}


@pytest.mark.parametrize("case", [name for name in COMMANDS if name != "pytest"])
def test_a_command_is_green_by_its_status(cells: CellProject, case: str) -> None:
    by_status(cells, COMMANDS[case])
    graded = cells.verdict({"app.py": RIGHT})
    assert graded.verdict == Verdict(green=True)
    found = cells.verdict({}).verdict
    assert (found.green, found.failure) == (False, "assertion")
    assert found.note.startswith("the command ended with ")
    assert (found.expected, found.passed) == (None, None)
    assert cells.verdict({"app.py": None}).verdict.failure == "assertion"


def test_pytest_by_its_status(cells: CellProject) -> None:
    by_status(cells, COMMANDS["pytest"])
    right = 'def add(a, b):\n    """\n    >>> add(1, 2)\n    3\n    """\n    return a + b\n'
    assert cells.verdict({"app.py": right}).verdict.green
    assert cells.verdict({"app.py": right.replace("a + b", "a")}).verdict.failure == "assertion"
    assert cells.verdict({"app.py": RIGHT}).verdict.failure == "assertion"  # status 5: no test


@pytest.mark.parametrize("program", ["no-such-program", "/opt/no/such", "./no-such.sh"])
def test_a_program_that_is_not_there_is_a_broken_grader(cells: CellProject, program: str) -> None:
    by_status(cells, [program, "check.py"])
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.broken) == (False, True)
    assert found.note == "the command cannot start: No such file or directory"


@pytest.mark.parametrize("rest", ["sleep 600.{} & true", "setsid sleep 600.{} & true"])
def test_what_a_command_starts_does_not_hold_the_verdict(cells: CellProject, rest: str) -> None:
    mark = str(time.monotonic_ns())
    by_status(cells, ["sh", "-c", rest.format(mark)])
    graded = cells.verdict({})
    assert graded.verdict.green
    assert graded.seconds < 5
    assert processes_with(mark) == []


def test_the_graders_clock_ends_a_command(cells: CellProject) -> None:
    mark = str(time.monotonic_ns())
    by_status(cells, ["sh", "-c", f"trap '' TERM; sleep 600.{mark}"], grade_timeout_s=1)
    graded = cells.verdict({})
    assert graded.verdict.failure == "grader_timeout"
    assert 1 <= graded.seconds < 1 + BOUND
    assert processes_with(mark) == []


def test_a_command_cannot_end_its_harness_and_be_green(cells: CellProject) -> None:
    by_status(cells, ["sh", "-c", "kill -9 $PPID; sleep 1"])
    found = cells.verdict({}).verdict
    assert (found.green, found.broken, found.failure) == (False, False, "tampered")


def test_a_command_that_a_signal_ends_is_not_green(cells: CellProject) -> None:
    by_status(cells, ["sh", "-c", "kill -9 $$"])
    assert cells.verdict({}).verdict.failure == "assertion"
