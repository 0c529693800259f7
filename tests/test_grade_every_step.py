"""grade_cell under every_step: the first step that decides; and graders that break."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cell_project import RIGHT, WRONG, CellProject, app
from frozenbench.build_environment import build_environment

Outcome = tuple[str, str, str | None]

HALF = "def add(a, b):\n    return 3 if (a, b) == (1, 2) else a - b\n"

DONE = {"done": True}
GAVE_UP = {"gave_up": True}

#: Proposals -> outcome, step, tool calls, edit rounds.
STEPS: dict[str, tuple[list[dict[str, Any]], Outcome, int, int, int]] = {
    "first green": ([app(HALF), app(RIGHT), app(HALF), DONE], ("PASS", "finished", None), 2, 2, 2),
    "green at once": ([app(RIGHT), app(HALF)] * 2, ("PASS", "finished", None), 1, 1, 1),
    "green, then a crash": ([app(RIGHT), {"files": 5}], ("PASS", "finished", None), 1, 1, 1),
    "green, then gives up": ([app(RIGHT), GAVE_UP], ("PASS", "finished", None), 1, 1, 1),
    "green, then banned": ([app(RIGHT), app("eval(1)\n")], ("PASS", "finished", None), 1, 1, 1),
    "green, then deleted": (
        [app(RIGHT), {"files": {"app.py": None}}, DONE],
        ("PASS", "finished", None),
        1,
        1,
        1,
    ),
    "banned before green": (
        [app(HALF), app("eval(1)\n"), app(RIGHT, **DONE)],
        ("FAIL_ASSUME", "banned_string", None),
        2,
        2,
        2,
    ),
    "idle steps count": (
        [{}, app(HALF), {}, app(RIGHT)],
        ("PASS", "finished", None),
        4,
        4,
        2,
    ),
    "never": ([app(HALF)] * 4, ("EXHAUSTED", "tool_calls", "tool_calls"), 1, 4, 1),
    "never, and done": (
        [app(HALF), app("x = 1\n"), app(HALF, **DONE)],
        ("FAIL_TEST", "assertion", None),
        3,
        3,
        3,
    ),
    "never, and a crash": ([app(HALF), {"files": 5}], ("ERROR", "adapter_crash", None), 1, 1, 1),
    "nothing": ([{}, DONE], ("FAIL_TEST", "no_change", None), 0, 2, 0),
    "ghost at the end": (
        [app(HALF), app("import fast_adder\n", **DONE)],
        ("FAIL_ASSUME", "ghost_import", None),
        2,
        2,
        2,
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_every_step(cells: CellProject, case: str) -> None:
    proposals, outcome, step, calls, rounds = STEPS[case]
    cells.share_verdicts()
    cells.task(must_not_contain=["eval("])
    cells.config["grading"] = "every_step"
    cell = cells.proposed(*[{"tokens": 5, **proposal} for proposal in proposals], {"files": 5})
    assert cell.outcome == outcome
    assert cell.grade["graded_step"] == step
    meters = cell.grade["meters"]
    assert (meters["tool_calls"], meters["edit_rounds"]) == (calls, rounds)
    assert meters["tokens"] == 5 * calls
    assert cell.grade["banned_ever"] is False
    seconds = cell.grade["measured"]["seconds"]
    if outcome[0] in ("PASS", "FAIL_ASSUME") and case != "ghost at the end":
        assert seconds == cell.run["measured"]["step_seconds"][step - 1]
    else:
        assert seconds == cell.run["measured"]["seconds"]


def test_a_starting_tree_that_is_green_is_seen(cells: CellProject) -> None:
    cells.task(fixture={"app.py": RIGHT}, solution={"app.py": f"{RIGHT}\n"})
    cells.config["grading"] = "every_step"
    noop = cells.both("noop")
    assert noop.outcome == ("PASS", "finished", None)
    assert noop.grade["graded_step"] == 0
    assert noop.grade["meters"]["tool_calls"] == 0
    cells.config["grading"] = "final"
    assert cells.both("noop").outcome == ("PASS", "green_at_cap", "tool_calls")


def test_both_policies_share_their_run_and_their_verdicts(cells: CellProject) -> None:
    final = cells.proposed(app(HALF), app(RIGHT, **DONE))
    cells.config["grading"] = "every_step"
    every = cells.grade()
    assert every.run == final.run
    assert every.grade["grade_key"] != final.grade["grade_key"]
    assert every.grade["verdicts"][-1] == final.grade["verdicts"][0]
    assert len(every.grade["verdicts"]) == 3


def pytest_is_gone(cells: CellProject, tmp_path: Path) -> None:
    """Give the graders an environment without pytest, once the expected ids are known."""
    cells.both("reference")
    known = cells.environment.parent / "expected"
    shutil.copytree(known, tmp_path / "other" / "expected")
    cells.environment = tmp_path / "other" / "environment"
    build_environment(None, cells.environment)
    shutil.rmtree("results/verdicts")


@pytest.mark.parametrize("grading", ["final", "every_step"])
@pytest.mark.parametrize("last", [DONE, {}], ids=["done", "at the cap"])
def test_a_broken_grader_says_nothing_of_the_agent(
    cells: CellProject, tmp_path: Path, grading: str, last: dict[str, Any]
) -> None:
    pytest_is_gone(cells, tmp_path)
    cells.config["grading"] = grading
    cell = cells.proposed(app(HALF), {}, {}, app(RIGHT, **last))
    outcome, reason, _ = cell.outcome
    assert (outcome, reason) == ("ERROR", "grader_broken")
    assert not Path("results/verdicts").exists()
    assert cell.grade["tests_passed"] == 0


def test_under_every_step_a_broken_grader_comes_before_a_later_crash(
    cells: CellProject, tmp_path: Path
) -> None:
    pytest_is_gone(cells, tmp_path)
    cells.config["grading"] = "every_step"
    cell = cells.proposed(app(HALF), {"files": 5})
    assert cell.outcome == ("ERROR", "grader_broken", None)


def test_a_mended_grader_is_asked_again(cells: CellProject, tmp_path: Path) -> None:
    whole = cells.environment
    pytest_is_gone(cells, tmp_path)
    assert cells.proposed(app(RIGHT, **DONE)).outcome == ("ERROR", "grader_broken", None)
    cells.environment = whole
    assert cells.grade().outcome == ("PASS", "finished", None)


def test_a_program_that_is_not_there(cells: CellProject) -> None:
    cells.task(grade=["no-such-judge"], grader_trust="exit-status")
    cells.lines["add"]["hidden"] = ["tests/test_app.py"]
    assert cells.both("reference").outcome == ("ERROR", "grader_broken", None)
    assert cells.both("noop").outcome == ("ERROR", "grader_broken", "tool_calls")


def test_the_graders_clock_is_not_the_agents(cells: CellProject) -> None:
    cells.task(grade_timeout_s=1)
    loop = "def add(a, b):\n    while True: pass\n"
    assert cells.proposed(app(loop, **DONE)).outcome == ("FAIL_TEST", "grader_timeout", None)
    assert cells.proposed(app(loop, **GAVE_UP)).outcome == ("FAIL_TEST", "grader_timeout", None)
    cell = cells.proposed(*[app(loop)] * 4)
    assert cell.outcome == ("EXHAUSTED", "tool_calls", "tool_calls")


def test_a_grader_without_test_ids(cells: CellProject) -> None:
    script = "from app import add\nassert add(1, 2) == 3\n"
    cells.task(
        hidden={"check.py": script}, grade=["python", "check.py"], grader_trust="exit-status"
    )
    cell = cells.proposed(app(RIGHT, **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    assert (cell.grade["tests_expected"], cell.grade["tests_passed"]) == (None, None)
    assert cells.proposed(app(WRONG + "\n", **DONE)).outcome == ("FAIL_TEST", "assertion", None)
    assert cells.proposed(DONE).outcome == ("FAIL_TEST", "no_change", None)
