"""Verdicts that stand beside logs: each is of one run, told by name or by place, or of none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from frozenbench.importers.gather import Imported, gather
from log_files import mini_trajectory, plain_csv, put
from reading import named, read

TRAJECTORY = {
    "trajectory_format": "mini-swe-agent-1.1",
    "messages": [{"role": "assistant"}],
    "info": {"exit_status": "Submitted", "model_stats": {"api_calls": 1}},
}


def mini_swe_agent(folder: Path, agent: str, solved: bool) -> None:
    (folder / "t1.traj.json").write_text(json.dumps(TRAJECTORY))
    verdicts(folder / "report.json", {"t1": solved})


def openhands(folder: Path, agent: str, solved: bool) -> None:
    line = {"instance_id": "t1", "history": [], "metadata": {"agent_class": agent}, "metrics": {}}
    (folder / "output.jsonl").write_text(json.dumps(line) + "\n")
    verdict = {"instance_id": "t1", "test_result": {"report": {"resolved": solved}}}
    (folder / "output.swebench_eval.jsonl").write_text(json.dumps(verdict) + "\n")


def verdicts(path: Path, solved: Mapping[str, bool], **more: object) -> Path:
    """Write a report of SWE-bench."""
    resolved = [task for task, verdict in solved.items() if verdict]
    unresolved = [task for task, verdict in solved.items() if not verdict]
    return put(path, {"resolved_ids": resolved, "unresolved_ids": unresolved, **more})


def two_runs(folder: Path) -> None:
    """Write two runs of two agents on one task; their order by name is x, y."""
    mini_trajectory(folder / "runs" / "x", "t1", calls=2, model="prov/one")
    mini_trajectory(folder / "runs" / "y", "t1", calls=3, model="prov/two")


def solved(found: Imported) -> dict[str, bool | None]:
    return {row.agent: row.solved for row in found.rows}


@pytest.mark.parametrize("write", [mini_swe_agent, openhands])
@pytest.mark.parametrize("solver", ["one", "two"])
def test_each_agent_gets_the_verdict_of_its_own_folder(
    tmp_path: Path, write: object, solver: str
) -> None:
    for agent in ("one", "two"):
        (tmp_path / agent).mkdir()
        write(tmp_path / agent, agent, agent == solver)  # type: ignore[operator]
    found = gather("auto", [tmp_path], jobs=1)
    assert solved(found) == {"one": solver == "one", "two": solver == "two"}


def test_two_runs_of_one_model_get_each_its_own_report_though_both_name_the_model(
    tmp_path: Path,
) -> None:
    for run, calls, verdict in (("a", 2, True), ("b", 3, False)):
        mini_trajectory(tmp_path / run, "t1", calls=calls, model="m")
        verdicts(tmp_path / run / "report.json", {"t1": verdict}, model_name_or_path="m")
    assert [row.solved for row in read(tmp_path).rows] == [True, False]


def test_a_published_submission_holds_trajectories_beside_results(tmp_path: Path) -> None:
    for run, verdict in (("20250101_a", True), ("20250202_b", False)):
        mini_trajectory(tmp_path / run / "trajs", "t1", model=run)
        verdicts(tmp_path / run / "results" / "results.json", {"t1": verdict})
    assert solved(read(tmp_path)) == {"20250101_a": True, "20250202_b": False}


@pytest.mark.parametrize(
    "names",
    [
        ("sb-cli-reports/subset__test__x.json", "sb-cli-reports/subset__test__y.json"),
        ("prov__one.any.json", "prov__two.any.json"),
        ("prov__one.x.json", "prov__two.y.json"),
        ("x.json", "y.json"),
    ],
)
def test_a_report_is_told_by_its_own_name(tmp_path: Path, names: tuple[str, str]) -> None:
    two_runs(tmp_path)
    for name, verdict in zip(names, (True, False), strict=True):
        verdicts(tmp_path / name, {"t1": verdict})
    assert solved(read(tmp_path)) == {"prov/one": True, "prov/two": False}


def test_a_report_is_told_by_the_agent_that_it_names(tmp_path: Path) -> None:
    two_runs(tmp_path)
    verdicts(tmp_path / "r1.json", {"t1": False}, model_name_or_path="prov/two")
    verdicts(tmp_path / "r2.json", {"t1": True}, model_name_or_path="prov/one")
    assert solved(read(tmp_path)) == {"prov/one": True, "prov/two": False}


def test_a_report_that_could_be_of_two_runs_is_of_none_and_named(tmp_path: Path) -> None:
    two_runs(tmp_path)
    verdicts(tmp_path / "report.json", {"t1": True})
    found = read(tmp_path)
    assert solved(found) == {"prov/one": None, "prov/two": None}
    (told,) = named(found, "verdict_not_used")
    assert "could be of prov/one in" in told
    assert "cure: put the report into the run's folder" in told


def test_a_report_on_one_agent_is_never_taken_for_another(tmp_path: Path) -> None:
    two_runs(tmp_path)
    mini_trajectory(tmp_path / "runs" / "y", "t2", model="prov/two")
    verdicts(tmp_path / "r1.json", {"t1": True, "t2": True}, model_name_or_path="prov/one")
    found = read(tmp_path)
    rows = {(row.agent, row.task): (row.solved, row.error) for row in found.rows}
    assert rows == {
        ("prov/one", "t1"): (True, None),
        ("prov/one", "t2"): (True, "missing_log"),
        ("prov/two", "t1"): (None, None),
        ("prov/two", "t2"): (None, None),
    }


def test_reports_of_one_folder_that_disagree_leave_a_run_without_a_verdict(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    verdicts(tmp_path / "first.json", {"t1": True})
    verdicts(tmp_path / "second.json", {"t1": False})
    (row,) = (found := read(tmp_path)).rows
    assert (row.solved, row.error) == (None, "reports_disagree")
    assert named(found, "null_grade") == ("model-m on t1: reports_disagree",)


def test_the_nearest_report_counts(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "run", "t1")
    verdicts(tmp_path / "report.json", {"t1": False})
    verdicts(tmp_path / "run" / "report.json", {"t1": True})
    assert [row.solved for row in read(tmp_path).rows] == [True]


def test_rows_that_hold_their_own_verdict_make_no_report_unclear(tmp_path: Path) -> None:
    plain_csv(tmp_path, "agent,task,solved,calls\nz,t1,false,1\n")
    mini_trajectory(tmp_path, "t1")
    verdicts(tmp_path / "report.json", {"t1": True})
    assert solved(read(tmp_path)) == {"model-m": True, "z": False}


def test_a_report_that_names_another_counts_by_its_place_and_is_named(tmp_path: Path) -> None:
    two_runs(tmp_path)
    verdicts(tmp_path / "runs" / "x" / "report.json", {"t1": True}, model_name_or_path="my run")
    found = read(tmp_path)
    assert solved(found) == {"prov/one": True, "prov/two": None}
    assert "names my run, and is taken for prov/one" in named(found, "report_by_place")[0]


def test_what_a_report_calls_incomplete_was_not_run(tmp_path: Path) -> None:
    """A report of SWE-bench lists the whole data set: what was not submitted is incomplete."""
    mini_trajectory(tmp_path, "t1")
    verdicts(tmp_path / "report.json", {"t1": True, "t2": False}, incomplete_ids=["t3", "t4"])
    found = read(tmp_path)
    assert [(row.task, row.error) for row in found.rows] == [("t1", None), ("t2", "missing_log")]
    assert "2 of 4 verdicts are on tasks without a log" in named(found, "verdict_not_used")[0]


@pytest.mark.parametrize("key", ["resolved", "resolved_ids"])
@pytest.mark.parametrize("solver", [(), ("t1",)])
def test_a_report_of_what_is_solved_alone_says_that_all_else_is_not(
    tmp_path: Path, key: str, solver: tuple[str, ...]
) -> None:
    """Published submissions list `resolved`, `no_generation` and `no_logs`, and nothing else."""
    for task in ("t1", "t2", "t3"):
        mini_trajectory(tmp_path / "a" / "trajs", task, model="m")
        mini_trajectory(tmp_path / "b" / "trajs", task, calls=9, model="other")
    report = {key: list(solver), "no_logs": ["t3"]}
    put(tmp_path / "a" / "results" / "results.json", report)
    found = read(tmp_path)
    rows = {row.task: (row.solved, row.error) for row in found.rows if row.agent == "m"}
    assert rows == {
        "t1": ("t1" in solver, None),
        "t2": (False, None),
        "t3": (None, "grader_broken"),
    }
    assert {row.solved for row in found.rows if row.agent == "other"} == {None}
    (told,) = named(found, "others_not_solved")
    assert told.endswith(f"results.json: {2 - len(solver)} runs that it does not name")


def test_a_report_that_lists_both_says_nothing_of_others(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1")
    verdicts(tmp_path / "report.json", {"t2": True})
    found = read(tmp_path)
    assert [row.solved for row in found.rows if row.task == "t1"] == [None]
    assert not named(found, "others_not_solved")
