"""grade_cell: from a run to one outcome, under both policies, with stored verdicts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cell_project import HIDDEN, RIGHT, WRONG, CellProject, app
from frozenbench.canonical import BadInput, digest
from frozenbench.grade_cell import grade_cell

Outcome = tuple[str, str, str | None]

HALF = "def add(a, b):\n    return 3 if (a, b) == (1, 2) else a - b\n"


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
    cell = cells.proposed(*proposals)
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
    cell = cells.proposed(app(HALF, **DONE))
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
    cell = cells.proposed(app(f"# eval( is here\n{RIGHT}", **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    cell = cells.proposed(app(f"{RIGHT}# no eval(here)\n", **DONE))
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", None)
    assert cell.grade["finding"]["path"] == "app.py"
    assert cell.grade["finding"]["line"] == 3
    assert cell.grade["verdicts"] == [] or grading == "every_step"
    cell = cells.proposed({"files": {"app.py": RIGHT, "fetch_csv.txt": ""}, "done": True})
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", None)


def test_a_banned_name(cells: CellProject) -> None:
    cells.task(must_not_use=["operator.add"])
    cell = cells.proposed(app("from operator import add as plus\nadd = plus\n", **DONE))
    assert cell.outcome == ("FAIL_ASSUME", "banned_symbol", None)
    cell = cells.proposed(app("from operator import sub, add as plus\n", **GAVE_UP))
    assert cell.outcome == ("FAIL_ASSUME", "banned_symbol", None)


def test_a_ban_counts_at_the_cap(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = cells.proposed(*[app(RIGHT)] * 3, app("eval('1')\n"))
    assert cell.outcome == ("FAIL_ASSUME", "banned_string", "tool_calls")
    cells.config["grading"] = "every_step"
    assert cells.grade().outcome == ("PASS", "finished", None)


def test_a_crash_is_an_error_whatever_was_banned(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = cells.proposed(app("eval('1')\n"), {"files": 5})
    assert cell.outcome == ("ERROR", "adapter_crash", None)


def test_a_ban_that_is_gone_is_told_beside_the_outcome(cells: CellProject) -> None:
    cells.task(must_not_contain=["eval("])
    cell = cells.proposed(app("eval('1')\n"), app(RIGHT, **DONE))
    assert cell.outcome == ("PASS", "finished", None)
    assert cell.grade["banned_ever"] is True


def test_hidden_tests_and_their_output_are_no_agents_lines(cells: CellProject) -> None:
    cells.task(hidden={"tests/test_app.py": f"# eval(\n{HIDDEN}"}, must_not_contain=["eval("])
    assert cells.proposed(app(RIGHT, **DONE)).outcome == ("PASS", "finished", None)
    found = cells.proposed(app("def add(a, b):\n    print('ev' + 'al(1)')\n", **DONE))
    assert found.outcome == ("FAIL_TEST", "assertion", None)


# The paths that a task asks for.


def test_a_path_that_is_not_there(cells: CellProject) -> None:
    cells.task(artifact=["report.md", "app.py"])
    assert cells.proposed(app(RIGHT, **DONE)).outcome == ("ERROR", "missing_artifact", None)
    assert cells.proposed(app(HALF, **GAVE_UP)).outcome == ("FAIL_TEST", "gave_up", None)
    assert cells.proposed(*[app(RIGHT)] * 4).outcome == ("PASS", "green_at_cap", "tool_calls")
    whole = {"files": {"app.py": RIGHT, "report.md": ""}, "done": True}
    assert cells.proposed(whole).outcome == ("PASS", "finished", None)


def test_a_path_that_the_tests_bring_is_not_the_agents(cells: CellProject) -> None:
    cells.task(artifact=["tests/test_app.py"])
    assert cells.proposed(app(RIGHT, **DONE)).outcome == ("ERROR", "missing_artifact", None)


# The verdict store.


def test_a_verdict_is_used_again_without_a_grader(cells: CellProject) -> None:
    first = cells.proposed(app(HALF, **DONE))
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
    one = cells.proposed(app(HALF), app(RIGHT, **DONE))
    reference = cells.both("reference")
    assert one.grade["verdicts"] == reference.grade["verdicts"]
    assert one.grade["run_key"] != reference.grade["run_key"]


def test_another_grader_or_environment_has_its_own_verdict(cells: CellProject) -> None:
    found = {cells.proposed(app(RIGHT, **DONE)).grade["verdicts"][0]}
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
    cells.proposed(app(RIGHT, **DONE))
    inputs, out = inputs_of(cells)
    with pytest.raises(BadInput, match="is not the path of this grade; cure: "):
        grade_cell(inputs, out.with_name("0" * 64))


def test_another_run_is_bad_input(cells: CellProject) -> None:
    cells.proposed(app(RIGHT, **DONE))
    other = cells.both("noop")
    inputs, out = inputs_of(cells)
    with pytest.raises(BadInput, match="holds another run; cure"):
        grade_cell(replace(inputs, run=other.folder), out)


def test_a_run_that_never_ended_is_bad_input(cells: CellProject) -> None:
    cell = cells.proposed(app(RIGHT, **DONE))
    inputs, out = inputs_of(cells)
    (cell.folder / "run.json").unlink()
    with pytest.raises(BadInput, match=r"run\.json: is not there"):
        grade_cell(inputs, out)


def test_a_snapshot_that_was_changed_is_bad_input(cells: CellProject) -> None:
    cell = cells.proposed(app(HALF, **DONE))
    inputs, out = inputs_of(cells)
    path = cell.folder / "snapshots" / "0001.json"
    path.write_text(path.read_text().replace("a - b", "a + b"))
    with pytest.raises(BadInput, match=r"0001\.json: the snapshot was changed: its digest differs"):
        grade_cell(inputs, out)


@pytest.mark.parametrize(
    "pattern", ["tasks/*/task.json", "tasks/*/fixture/app.py", "graders/*/hidden/tests/test_app.py"]
)
def test_what_was_frozen_cannot_be_changed(cells: CellProject, pattern: str) -> None:
    cells.proposed(app(HALF, **DONE))
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
    cell = cells.proposed({"files": {"b.txt": "\r\n"}, "done": True})
    assert cell.outcome == ("PASS", "finished", None)
    cell = cells.proposed({"files": {"b.txt": "\n"}, "done": True})
    assert cell.outcome == ("FAIL_TEST", "assertion", None)
