"""The SWE-bench harness's report on each instance: together they are the verdicts of one run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from frozenbench.importers.gather import Imported, gather
from log_files import mini_trajectory, put, swe_agent_trajectory
from reading import by_task, named, read


def instance(task: str, resolved: Any = True, tests: bool = True) -> dict[str, Any]:
    told: dict[str, Any] = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
    }
    if tests:
        told["tests_status"] = {"FAIL_TO_PASS": {"success": ["a"], "failure": []}}
    return {task: told}


def evaluation(folder: Path, model: str, run: str, solved: Mapping[str, Any]) -> None:
    """Write what the harness leaves behind when it was started in `folder`."""
    place = folder / "logs" / "run_evaluation" / run / model.replace("/", "__")
    for task, resolved in solved.items():
        put(place / task / "report.json", instance(task, resolved))
        (place / task / "test_output.txt").write_text("…")


def verdicts(found: Imported) -> dict[tuple[str, str], bool | None]:
    return {(row.agent, row.task): row.solved for row in found.rows}


@pytest.mark.parametrize("tests", [True, False])
def test_it_speaks_of_its_instance_alone(tmp_path: Path, tests: bool) -> None:
    for task in ("t1", "t2", "t3"):
        mini_trajectory(tmp_path, task)
    for task, resolved in (("t1", True), ("t2", False)):
        put(tmp_path / "logs" / task / "report.json", instance(task, resolved, tests))
    found = read(tmp_path)
    assert {task: row.solved for task, row in by_task(found).items()} == {
        "t1": True,
        "t2": False,
        "t3": None,
    }
    assert not named(found, "others_not_solved")
    assert len(named(found, "null_grade")) == 1


def test_a_patch_that_is_none_is_not_solved(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    told = {"patch_is_None": True, "patch_exists": False, "resolved": False}
    put(tmp_path / "t1" / "report.json", {"t1": told})
    assert by_task(read(tmp_path))["t1"].solved is False


def test_a_report_without_a_verdict_is_a_broken_grader(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    put(tmp_path / "t1" / "report.json", instance("t1", None))
    row = by_task(read(tmp_path))["t1"]
    assert (row.solved, row.error) == (None, "grader_broken")


def test_they_are_told_by_the_folder_of_their_model(tmp_path: Path) -> None:
    for run, model in (("x", "prov/one"), ("y", "prov/two")):
        mini_trajectory(tmp_path / "runs" / run, "t1", model=model)
    evaluation(tmp_path, "prov/one", "night", {"t1": True})
    evaluation(tmp_path, "prov/two", "night", {"t1": False})
    found = read(tmp_path)
    assert verdicts(found) == {("prov/one", "t1"): True, ("prov/two", "t1"): False}
    assert not named(found, "report_by_place")


def test_two_runs_of_one_model_are_told_by_the_folder_of_their_run(tmp_path: Path) -> None:
    for run, calls, verdict in (("x", 2, True), ("y", 3, False)):
        mini_trajectory(tmp_path / "runs" / run, "t1", calls=calls)
        evaluation(tmp_path, "model-m", run, {"t1": verdict})
    rows = read(tmp_path).rows
    assert {row.run.rpartition("/")[2]: row.solved for row in rows} == {"x": True, "y": False}


@pytest.mark.parametrize("inner", ["logs", "eval_outputs", "evaluation/logs", "."])
def test_they_are_told_by_the_run_that_they_lie_in(tmp_path: Path, inner: str) -> None:
    for run, calls, verdict in (("20250101_a", 4, True), ("20250202_b", 5, False)):
        swe_agent_trajectory(tmp_path / run / "trajs", "t1", api_calls=calls)
        put(tmp_path / run / inner / "t1" / "report.json", instance("t1", verdict))
    rows = read(tmp_path).rows
    assert [row.solved for row in rows] == [True, False]


def test_a_file_called_after_its_instance_is_one_of_a_folder_too(tmp_path: Path) -> None:
    for task in ("t1", "t2"):
        mini_trajectory(tmp_path / "a", task, model="m")
        mini_trajectory(tmp_path / "b", task, model="n")
        put(tmp_path / "a" / "reports" / f"{task}.json", instance(task, task == "t1"))
    found = read(tmp_path)
    assert verdicts(found) == {
        ("m", "t1"): True,
        ("m", "t2"): False,
        ("n", "t1"): None,
        ("n", "t2"): None,
    }


def test_those_that_could_be_of_two_runs_are_of_none_and_named_once(tmp_path: Path) -> None:
    for run, model in (("x", "one"), ("y", "two")):
        for task in ("t1", "t2"):
            mini_trajectory(tmp_path / run, task, model=model)
    evaluation(tmp_path, "other", "night", {"t1": True, "t2": True})
    found = read(tmp_path)
    assert set(verdicts(found).values()) == {None}
    (told,) = named(found, "verdict_not_used")
    assert "run_evaluation/night/other: 2 of 2 verdicts could be of one in" in told


def test_those_that_name_another_are_taken_by_their_place_and_named_once(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "b", "t1", model="n")
    for task in ("t1", "t2"):
        mini_trajectory(tmp_path / "a", task, model="m")
    evaluation(tmp_path / "a", "my run", "night", {"t1": True, "t2": False})
    found = read(tmp_path)
    assert verdicts(found) == {("m", "t1"): True, ("m", "t2"): False, ("n", "t1"): None}
    (told,) = named(found, "report_by_place")
    assert "run_evaluation/night/my run: names my run, and is taken for m" in told


def test_a_verdict_without_a_trajectory_is_an_error_as_in_every_report(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    evaluation(tmp_path, "model-m", "night", {"t1": True, "t2": True})
    found = read(tmp_path)
    assert by_task(found)["t2"].error == "missing_log"
    assert named(found, "verdict_without_log") == ("model-m on t2",)


@pytest.mark.parametrize("agree", [True, False])
def test_they_stand_beside_the_report_of_their_run(tmp_path: Path, agree: bool) -> None:
    """What the harness could not grade has no report of its own, and is an error in that of the run."""
    for task in ("t1", "t2"):
        mini_trajectory(tmp_path, task)
    evaluation(tmp_path, "model-m", "night", {"t1": agree})
    whole = {"resolved_ids": ["t1"], "unresolved_ids": [], "error_ids": ["t2"]}
    put(tmp_path / "model-m.night.json", whole)
    rows = by_task(read(tmp_path))
    assert rows["t1"].solved is (True if agree else None)
    assert rows["t1"].error == (None if agree else "reports_disagree")
    assert rows["t2"].error == "grader_broken"


def test_two_reports_in_the_folder_of_an_instance_that_disagree_leave_it_without_a_verdict(
    tmp_path: Path,
) -> None:
    mini_trajectory(tmp_path, "t1")
    for name, verdict in (("report", True), ("report_again", False)):
        put(tmp_path / "logs" / "t1" / f"{name}.json", instance("t1", verdict))
    assert by_task(read(tmp_path))["t1"].error == "reports_disagree"


def test_thousands_of_them_are_told_as_few_runs(tmp_path: Path) -> None:
    runs, tasks = range(20), range(100)
    for run in runs:
        for task in tasks:
            mini_trajectory(tmp_path / "runs" / f"r{run}", f"t{task}", calls=1, model=f"m/{run}")
        solved = {f"t{task}": task % 2 == 0 for task in tasks}
        evaluation(tmp_path, f"m/{run}", "night", solved)
    found = read(tmp_path)
    assert sum(row.solved is True for row in found.rows) == 1000
    assert sum(row.solved is False for row in found.rows) == 1000
    assert {notice.kind for notice in found.notices} == {"passed_over"}  # outputs of the tests


@pytest.mark.parametrize("folder", [".", "x", "x/run"])
@pytest.mark.parametrize("form", ["folders", "files"])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_report_speaks_of_its_own_run_whichever_folder_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, form: str, absolute: bool
) -> None:
    """A report asked for in the open folder stood above every other run, whose tasks it solved."""
    own, other = tmp_path / "x" / "run", tmp_path / "y" / "run"
    mini_trajectory(own, "t1", model="model-m")
    mini_trajectory(other, "t2", model="model-q")
    put(own / "report.json", {"resolved_ids": ["t1", "t2"], "unresolved_ids": []})
    monkeypatch.chdir(tmp_path / folder)
    asked = [own, other] if form == "folders" else [own / "t1", own / "report.json", other]
    paths = asked if absolute else [Path(os.path.relpath(path)) for path in asked]
    found = gather("auto", paths, jobs=1)
    held = {(row.agent, row.task): row.solved for row in found.rows if row.agent == "model-q"}
    assert held == {("model-q", "t2"): None}
    assert {row.solved for row in found.rows if row.agent == "model-m" and row.task == "t1"} == {
        True
    }
