"""Verdicts that contradict each other inside one file: no grade, and named; nothing is settled."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_files import hal_upload, mini_trajectory, openhands_line, put, report
from mutated_logs import content
from reading import by_task, named, read


@pytest.mark.parametrize("other", ["unresolved_ids", "empty_patch_ids", "error_ids"])
def test_a_report_with_a_task_in_two_lists(tmp_path: Path, other: str) -> None:
    for task in ("t1", "t2"):
        mini_trajectory(tmp_path, task)
    lists = {"resolved_ids": ["t1", "t2"], "unresolved_ids": [], other: ["t1"]}
    put(tmp_path / "report.json", lists)
    found = read(tmp_path)
    rows = by_task(found)
    assert (rows["t1"].solved, rows["t1"].error) == (None, "reports_disagree")
    assert rows["t2"].solved is True
    (told,) = named(found, "verdicts_disagree")
    assert told.endswith("report.json: t1: solved, and not solved")


def test_a_report_of_what_is_not_solved_may_say_it_twice(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    put(tmp_path / "report.json", {"resolved": [], "no_generation": ["t1"], "no_logs": ["t1"]})
    found = read(tmp_path)
    assert by_task(found)["t1"].error == "grader_broken"
    assert not named(found, "verdicts_disagree")


def test_a_task_without_a_log_is_an_error_all_the_same(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    report(tmp_path, ["t1", "t2"], ["t2"])
    found = read(tmp_path)
    assert (by_task(found)["t2"].solved, by_task(found)["t2"].error) == (None, "missing_log")
    assert named(found, "verdicts_disagree")


def test_two_lines_on_one_instance(tmp_path: Path) -> None:
    put(tmp_path / "output.jsonl", [openhands_line("t1")])
    verdicts = [
        {"instance_id": "t1", "test_result": {"report": {"resolved": solved}}}
        for solved in (True, False)
    ]
    put(tmp_path / "output.swebench_eval.jsonl", verdicts)
    found = read(tmp_path)
    assert by_task(found)["t1"].error == "reports_disagree"
    assert named(found, "verdicts_disagree")


def test_a_task_of_an_upload_in_both_lists(tmp_path: Path) -> None:
    path = hal_upload(tmp_path, {}, successful_tasks=["t1", "t2"], failed_tasks=["t1", "t3"])
    rows = by_task(found := read(path))
    assert (rows["t1"].solved, rows["t1"].error) == (None, "verdicts_disagree")
    assert (rows["t2"].solved, rows["t3"].solved) == (True, False)
    assert named(found, "verdicts_disagree") == (
        "one_UPLOAD.json: t1: in successful_tasks and in failed_tasks",
    )


@pytest.mark.parametrize(
    ("reward", "listed", "solved", "torn"),
    [
        (1.0, "successful_tasks", True, False),
        (0.0, "failed_tasks", False, False),
        (0.0, "successful_tasks", None, True),
        (1.0, "failed_tasks", None, True),
        # A part of a grade is called solved by some benchmarks and not by others.
        (0.5, "successful_tasks", False, False),
        (0.5, "failed_tasks", False, False),
    ],
)
def test_a_grade_of_an_upload_and_its_list(
    tmp_path: Path, reward: float, listed: str, solved: bool | None, torn: bool
) -> None:
    found = read(hal_upload(tmp_path, {"t1": reward}, **{listed: ["t1"]}))
    assert by_task(found)["t1"].solved is solved
    assert bool(named(found, "verdicts_disagree")) is torn


def test_a_grade_that_is_not_told_leaves_the_list_to_count(tmp_path: Path) -> None:
    path = hal_upload(tmp_path, {"t1": 1.0}, failed_tasks=["t1"])
    log = content(path)
    log["raw_eval_results"]["t1"]["reward"] = None
    found = read(put(path, log))
    assert by_task(found)["t1"].solved is False
    assert not named(found, "odd_verdict")


def test_the_report_of_an_upload(tmp_path: Path) -> None:
    raw = {"resolved_ids": ["t1", "t2"], "unresolved_ids": ["t1"]}
    log = {"config": {"agent_name": "a"}, "results": {}, "raw_eval_results": raw}
    found = read(put(tmp_path / "one_UPLOAD.json", log))
    rows = by_task(found)
    assert (rows["t1"].solved, rows["t1"].error) == (None, "verdicts_disagree")
    assert rows["t2"].solved is True
    assert named(found, "verdicts_disagree")
