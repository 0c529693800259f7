"""grade_cell: from a run to one outcome, under both policies, with stored verdicts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cell_project import HIDDEN, RIGHT, WRONG, Cell, CellProject
from frozenbench.build_environment import build_environment
from frozenbench.canonical import BadInput, digest
from frozenbench.grade_cell import grade_cell

Outcome = tuple[str, str, str | None]

HALF = "def add(a, b):\n    return 3 if (a, b) == (1, 2) else a - b\n"


def agent(cells: CellProject, *proposals: dict[str, Any]) -> None:
    """Add an agent that makes these proposals, then raises."""
    cells.agent(
        f"PROPOSALS = {list(proposals)!r}\n\ndef propose(task, history):\n"
        "    return PROPOSALS[len(history)]\n"
    )


def app(text: str, **more: Any) -> dict[str, Any]:
    return {"files": {"app.py": text}, **more}


def graded(cells: CellProject, *proposals: dict[str, Any]) -> Cell:
    agent(cells, *proposals)
    return cells.both()


DONE = {"done": True}
GAVE_UP = {"gave_up": True}

#: What an agent does under four proposals, without bans -> the outcome.
CASES: dict[str, tuple[list[dict[str, Any]], Outcome]] = {
    "right": ([app(RIGHT, **DONE)], ("PASS", "finished", None)),
    "right, and gives up": ([app(RIGHT, **GAVE_UP)], ("PASS", "finished", None)),
    "right at the cap": ([app(WRONG)] * 3 + [app(RIGHT)], ("PASS", "green_at_cap", "tool_calls")),
    "wrong": ([app(HALF, **DONE)], ("FAIL_TEST", "assertion", None)),
    "wrong at the cap": ([app(HALF)] * 4, ("EXHAUSTED", "tool_calls", "tool_calls")),
    "right, then wrong": ([app(RIGHT), app(HALF, **DONE)], ("FAIL_TEST", "assertion", None)),
    "nothing": ([DONE], ("FAIL_TEST", "no_change", None)),
    "there and back": ([app(HALF), app(WRONG, **DONE)], ("FAIL_TEST", "no_change", None)),
    "nothing, and gives up": ([GAVE_UP], ("FAIL_TEST", "no_change", None)),
    "gives up": ([app(HALF, **GAVE_UP)], ("FAIL_TEST", "gave_up", None)),
    "gives up on what does not parse": (
        [app("def add(:\n", **GAVE_UP)],
        ("FAIL_TEST", "gave_up", None),
    ),
    "does not parse": ([app("def add(:\n", **DONE)], ("FAIL_TEST", "import_error", None)),
    "lacks the name": ([app("def plus(a, b): ...\n", **DONE)], ("FAIL_TEST", "import_error", None)),
    "removes the file": (
        [{"files": {"app.py": None}, "done": True}],
        ("FAIL_TEST", "import_error", None),
    ),
    "exits at import": (
        [app(f"import os\nos._exit(0)\n{RIGHT}", **DONE)],
        ("FAIL_TEST", "no_tests_ran", None),
    ),
    "exits, and gives up": (
        [app(f"import os\nos._exit(0)\n{RIGHT}", **GAVE_UP)],
        ("FAIL_TEST", "no_tests_ran", None),
    ),
    "tampers": (
        [app("import os\ndef add(a, b):\n    return a + b if a >= 0 else os._exit(0)\n", **DONE)],
        ("FAIL_TEST", "tampered", None),
    ),
    "ghost module": (
        [app("import fast_adder\nadd = fast_adder.add\n", **DONE)],
        ("FAIL_ASSUME", "ghost_import", None),
    ),
    "ghost module, gives up": (
        [app("import fast_adder\nadd = fast_adder.add\n", **GAVE_UP)],
        ("FAIL_ASSUME", "ghost_import", None),
    ),
    "ghost name": (
        [app("def add(a, b):\n    return plus(a, b)\n", **DONE)],
        ("FAIL_ASSUME", "ghost_name", None),
    ),
    "ghost at the cap": (
        [app("import fast_adder\n")] * 4,
        ("EXHAUSTED", "tool_calls", "tool_calls"),
    ),
    "ghost and green": (
        [app(f"{RIGHT}\ndef unused():\n    return plus(1, 2)\n", **DONE)],
        ("PASS", "finished", None),
    ),
    "crashes at once": ([{"files": 5}], ("ERROR", "adapter_crash", None)),
    "right, then crashes": ([app(RIGHT), {"files": 5}], ("ERROR", "adapter_crash", None)),
    "wrong, then crashes": ([app(HALF), {"files": 5}], ("ERROR", "adapter_crash", None)),
}


@pytest.mark.parametrize("case", CASES)
def test_outcomes(cells: CellProject, case: str) -> None:
    proposals, expected = CASES[case]
    cells.share_verdicts()
    cell = graded(cells, *proposals)
    assert cell.outcome == expected
    assert cell.grade["artifact_sha256"] == cell.run["artifact_sha256"]
    assert cell.grade["meters"] == cell.run["meters"]
    assert cell.grade["ending"] == cell.run["ending"]
    assert cell.grade["banned_ever"] is False
    if expected[0] == "ERROR":
        assert cell.grade["verdicts"] == []
        assert (cell.grade["tests_expected"], cell.grade["tests_passed"]) == (None, None)
    else:
        assert cell.grade["tests_expected"] == 3
    if expected[0] == "PASS":
        assert cell.grade["tests_passed"] == 3


def test_the_files_of_a_grade(cells: CellProject) -> None:
    cell = graded(cells, app(HALF, **DONE))
    (folder,) = Path("results/grades").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["grade.json", "log"]
    assert folder.name == cell.grade["grade_key"] == digest(cell.grade["material"])
    assert cell.grade["run_key"] == cell.run["run_key"]
    assert cell.grade["note"] == "1 failed, the first tests/test_app.py::test_negative"
    assert (cell.grade["tests_expected"], cell.grade["tests_passed"]) == (3, 2)
    log = (folder / "log").read_text()
    assert log.startswith("step 1: not green: assertion\n")
    assert "assert 1 == -3" in log
    assert cell.grade["measured"]["isolation_measured"] == "userns"
    assert 0 < cell.grade["measured"]["grade_seconds"] < 10


# Bans: over green, over the cap, on the agent's lines alone.


@pytest.mark.parametrize("grading", ["final", "every_step"])
def test_a_banned_string(cells: CellProject, grading: str) -> None:
    cells.task(
        fixture={"app.py": f"# eval( is here\n{WRONG}"},
        solution={"app.py": RIGHT},
        must_not_contain=["eval(", "fetch_csv"],
    )
    cells.config["grading"] = grading
    cell = graded(cells, app(f"# eval( is here\n{RIGHT}", **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    cell = graded(cells, app(f"{RIGHT}# no eval(here)\n", **DONE))
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", None)
    assert cell.grade["finding"]["path"] == "app.py"
    assert cell.grade["finding"]["line"] == 3
    assert cell.grade["verdicts"] == [] or grading == "every_step"
    cell = graded(cells, {"files": {"app.py": RIGHT, "fetch_csv.txt": ""}, "done": True})
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", None)


def test_a_banned_name(cells: CellProject) -> None:
    cells.task(must_not_use=["operator.add"])
    cell = graded(cells, app("from operator import add as plus\nadd = plus\n", **DONE))
    assert cell.outcome == ("FAIL_ASSUME", "banned_symbol", None)
    cell = graded(cells, app("from operator import sub, add as plus\n", **GAVE_UP))
    assert cell.outcome == ("FAIL_ASSUME", "banned_symbol", None)


def test_a_ban_counts_at_the_cap(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = graded(cells, *[app(RIGHT)] * 3, app("eval('1')\n"))
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", "tool_calls")
    cells.config["grading"] = "every_step"
    assert cells.grade().outcome == ("PASS", "finished", None)


def test_a_crash_is_an_error_whatever_was_banned(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = graded(cells, app("eval('1')\n"), {"files": 5})
    assert cell.outcome == ("ERROR", "adapter_crash", None)


def test_a_ban_that_is_gone_is_told_beside_the_outcome(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = graded(cells, app("eval('1')\n"), app(RIGHT, **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    assert cell.grade["banned_ever"] is True


def test_hidden_tests_and_their_output_are_no_agents_lines(cells: CellProject) -> None:
    cells.task(hidden={"tests/test_app.py": f"# eval(\n{HIDDEN}"}, must_not_contain=["eval("])
    assert graded(cells, app(RIGHT, **DONE)).outcome == ("PASS", "finished", None)
    found = graded(cells, app("def add(a, b):\n    print('ev' + 'al(1)')\n", **DONE))
    assert found.outcome == ("FAIL_TEST", "assertion", None)


# The paths that a task asks for.


def test_a_path_that_is_not_there(cells: CellProject) -> None:
    cells.task(artifact=["report.md", "app.py"])
    assert graded(cells, app(RIGHT, **DONE)).outcome == ("ERROR", "missing_artifact", None)
    assert graded(cells, app(HALF, **GAVE_UP)).outcome == ("FAIL_TEST", "gave_up", None)
    assert graded(cells, *[app(RIGHT)] * 4).outcome == ("PASS", "green_at_cap", "tool_calls")
    whole = {"files": {"app.py": RIGHT, "report.md": ""}, "done": True}
    assert graded(cells, whole).outcome == ("PASS", "finished", None)


def test_a_path_that_the_tests_bring_is_not_the_agents(cells: CellProject) -> None:
    cells.task(artifact=["tests/test_app.py"])
    assert graded(cells, app(RIGHT, **DONE)).outcome == ("ERROR", "missing_artifact", None)


# every_step: the first step that decides.

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
    cell = graded(cells, *[{"tokens": 5, **proposal} for proposal in proposals], {"files": 5})
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
    final = graded(cells, app(HALF), app(RIGHT, **DONE))
    cells.config["grading"] = "every_step"
    every = cells.grade()
    assert every.run == final.run
    assert every.grade["grade_key"] != final.grade["grade_key"]
    assert every.grade["verdicts"][-1] == final.grade["verdicts"][0]
    assert len(every.grade["verdicts"]) == 3


# Graders that break.


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
    cell = graded(cells, app(HALF), {}, {}, app(RIGHT, **last))
    outcome, reason, _ = cell.outcome
    assert (outcome, reason) == ("ERROR", "grader_broken")
    assert not Path("results/verdicts").exists()
    assert cell.grade["tests_passed"] == 0


def test_under_every_step_a_broken_grader_comes_before_a_later_crash(
    cells: CellProject, tmp_path: Path
) -> None:
    pytest_is_gone(cells, tmp_path)
    cells.config["grading"] = "every_step"
    cell = graded(cells, app(HALF), {"files": 5})
    assert cell.outcome == ("ERROR", "grader_broken", None)


def test_a_mended_grader_is_asked_again(cells: CellProject, tmp_path: Path) -> None:
    whole = cells.environment
    pytest_is_gone(cells, tmp_path)
    assert graded(cells, app(RIGHT, **DONE)).outcome == ("ERROR", "grader_broken", None)
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
    assert graded(cells, app(loop, **DONE)).outcome == ("FAIL_TEST", "grader_timeout", None)
    assert graded(cells, app(loop, **GAVE_UP)).outcome == ("FAIL_TEST", "grader_timeout", None)
    cell = graded(cells, *[app(loop)] * 4)
    assert cell.outcome == ("EXHAUSTED", "tool_calls", "tool_calls")


def test_a_grader_without_test_ids(cells: CellProject) -> None:
    script = "from app import add\nassert add(1, 2) == 3\n"
    cells.task(
        hidden={"check.py": script}, grade=["python", "check.py"], grader_trust="exit-status"
    )
    cell = graded(cells, app(RIGHT, **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    assert (cell.grade["tests_expected"], cell.grade["tests_passed"]) == (None, None)
    assert graded(cells, app(WRONG + "\n", **DONE)).outcome == ("FAIL_TEST", "assertion", None)
    assert graded(cells, DONE).outcome == ("FAIL_TEST", "no_change", None)


# The verdict store.


def test_a_verdict_is_used_again_without_a_grader(cells: CellProject) -> None:
    first = graded(cells, app(HALF, **DONE))
    files = {path: path.stat().st_mtime_ns for path in Path("results/verdicts").rglob("*.json")}
    assert [path.stem for path in files] == first.grade["verdicts"]
    plan = cells.plan()
    inputs, out = cells.grade_inputs(plan, cells.cell(plan, "agent", "add"))
    (out / "grade.json").unlink()
    # Nothing could be graded here: this environment is not there at all.
    nowhere = replace(inputs, environment=Path("nowhere") / inputs.environment.name)
    grade_cell(nowhere, out)
    again = json.loads((out / "grade.json").read_bytes())
    assert again == first.grade
    assert files == {path: path.stat().st_mtime_ns for path in files}


def test_equal_artifacts_share_a_verdict(cells: CellProject) -> None:
    one = graded(cells, app(HALF), app(RIGHT, **DONE))
    reference = cells.both("reference")
    assert one.grade["verdicts"] == reference.grade["verdicts"]
    assert one.grade["run_key"] != reference.grade["run_key"]


def test_another_grader_or_environment_has_its_own_verdict(cells: CellProject) -> None:
    found = {graded(cells, app(RIGHT, **DONE)).grade["verdicts"][0]}
    cells.task(grade_timeout_s=30)
    found.add(cells.grade().grade["verdicts"][0])
    cells.write({"tests/test_app.py": HIDDEN + "# changed\n"})
    found.add(cells.grade().grade["verdicts"][0])
    assert len(found) == 3


# What is checked first.


def inputs_of(cells: CellProject) -> tuple[Any, Path]:
    plan = cells.plan()
    return cells.grade_inputs(plan, cells.cell(plan, "agent", "add"))


def test_another_path_is_bad_input(cells: CellProject) -> None:
    graded(cells, app(RIGHT, **DONE))
    inputs, out = inputs_of(cells)
    with pytest.raises(BadInput, match="is not the path of this grade; cure: "):
        grade_cell(inputs, out.with_name("0" * 64))


def test_another_run_is_bad_input(cells: CellProject) -> None:
    graded(cells, app(RIGHT, **DONE))
    other = cells.both("noop")
    inputs, out = inputs_of(cells)
    with pytest.raises(BadInput, match="holds another run; cure"):
        grade_cell(replace(inputs, run=other.folder), out)


def test_a_run_that_never_ended_is_bad_input(cells: CellProject) -> None:
    cell = graded(cells, app(RIGHT, **DONE))
    inputs, out = inputs_of(cells)
    (cell.folder / "run.json").unlink()
    with pytest.raises(BadInput, match=r"run\.json: is not there"):
        grade_cell(inputs, out)


def test_a_snapshot_that_was_changed_is_bad_input(cells: CellProject) -> None:
    cell = graded(cells, app(HALF, **DONE))
    inputs, out = inputs_of(cells)
    path = cell.folder / "snapshots" / "0001.json"
    path.write_text(path.read_text().replace("a - b", "a + b"))
    with pytest.raises(BadInput, match=r"0001\.json: the snapshot was changed: its digest differs"):
        grade_cell(inputs, out)


@pytest.mark.parametrize(
    "pattern", ["tasks/*/task.json", "tasks/*/fixture/app.py", "graders/*/hidden/tests/test_app.py"]
)
def test_what_was_frozen_cannot_be_changed(cells: CellProject, pattern: str) -> None:
    graded(cells, app(HALF, **DONE))
    inputs, out = inputs_of(cells)
    (path,) = Path("results/frozen").glob(pattern)
    path.chmod(0o644)
    text = path.read_text()
    path.write_text(text.replace("Correct", "Break") if "Correct" in text else f"{text}\n")
    shutil.rmtree("results/verdicts")
    with pytest.raises(BadInput, match="was changed after it was frozen; cure"):
        grade_cell(inputs, out)


def test_bytes_are_graded_as_the_agent_left_them(cells: CellProject) -> None:
    suite = (
        "import pathlib\ndef test_it():\n"
        "    assert pathlib.Path('a.txt').read_bytes() == b'x\\r\\ny\\n'\n"
        "    assert pathlib.Path('b.txt').read_bytes() == b'\\r\\n'\n"
    )
    cells.task(
        fixture={"a.txt": b"x\r\ny\n"},
        hidden={"tests/test_app.py": suite},
        solution={"b.txt": b"\r\n"},
    )
    assert cells.both("reference").outcome == ("PASS", "finished", None)
    cell = graded(cells, {"files": {"b.txt": "\r\n"}, "done": True})
    assert cell.outcome == ("PASS", "finished", None)
    cell = graded(cells, {"files": {"b.txt": "\n"}, "done": True})
    assert cell.outcome == ("FAIL_TEST", "assertion", None)
