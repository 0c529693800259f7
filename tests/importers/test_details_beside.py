"""Details of a submission beside its trajectories: their verdicts, and no second agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from frozenbench.importers.gather import Imported, gather
from log_files import detail, mini_trajectory, put, report, swe_agent_trajectory
from reading import by_task, named, read

NAME = "per_instance_details.json"


def submission(folder: Path, details: dict[str, Any], *tasks: str, model: str = "model-m") -> None:
    """Write a published submission: trajectories of 3 calls and 0.5 USD, and details."""
    for task in tasks:
        mini_trajectory(folder / "trajs", task, model=model)
    put(folder / NAME, details)


def verdicts(found: Imported) -> dict[tuple[str, str], bool | None]:
    return {(row.agent, row.task): row.solved for row in found.rows}


def test_details_are_the_verdicts_of_the_trajectories_beside_them(tmp_path: Path) -> None:
    details = {"t1": detail(True, 3, 0.5), "t2": detail(False, 3, 0.5)}
    submission(tmp_path / "2025_a", details, "t1", "t2")
    found = read(tmp_path)
    assert verdicts(found) == {("model-m", "t1"): True, ("model-m", "t2"): False}
    assert {row.use.tokens for row in found.rows} == {36}  # of the trajectories
    assert found.notices == ()


@pytest.mark.parametrize("inner", ["", "results", "evaluation"])
def test_each_submission_has_its_own(tmp_path: Path, inner: str) -> None:
    for run, verdict in (("a", True), ("b", False)):
        mini_trajectory(tmp_path / run / "trajs", "t1", model=f"m{run}")
        put(tmp_path / run / inner / NAME, {"t1": detail(verdict, 3, 0.5)})
    assert verdicts(read(tmp_path)) == {("ma", "t1"): True, ("mb", "t1"): False}


def test_details_alone_are_an_agent(tmp_path: Path) -> None:
    """Trajectories of another run, even of the same model, lie elsewhere."""
    submission(tmp_path / "a", {"t1": detail(True, 3, 0.5)}, "t1")
    put(tmp_path / "b" / NAME, {"t1": detail(False, 9, 0.25)})
    found = read(tmp_path)
    assert verdicts(found) == {("model-m", "t1"): True, ("b", "t1"): False}
    assert {row.agent: row.use.calls for row in found.rows} == {"model-m": 3, "b": 9}


def test_details_of_other_tasks_than_the_trajectories_are_an_agent(tmp_path: Path) -> None:
    submission(tmp_path / "a", {"t2": detail(True, 3, 0.5)}, "t1")
    assert verdicts(read(tmp_path)) == {("model-m", "t1"): None, ("a", "t2"): True}


@pytest.mark.parametrize("absolute", [True, False])
def test_where_they_lie_is_told_by_their_places_and_not_by_names_cut_short(
    tmp_path: Path, absolute: bool
) -> None:
    """Outside the project a given file is named by the last parts of its path alone."""
    mini_trajectory(tmp_path / "x" / "trajs", "t1")
    paths = [put(tmp_path / place / NAME, {"t1": detail(True, 3, 0.5)}) for place in ("x", "y")]
    root = Path() if absolute else tmp_path
    for path, agents in zip(paths, ({"model-m"}, {"model-m", "y"}), strict=True):
        given = [path, tmp_path / "x" / "trajs"]
        if not absolute:
            given = [one.relative_to(tmp_path) for one in given]
        assert {row.agent for row in gather("auto", given, root, jobs=1).rows} == agents


@pytest.mark.parametrize(
    ("calls", "cost", "told"),
    [
        (3, 0.5, None),
        (3, 0.5000000000000001, None),  # a sum of binary fractions
        (4, 0.5, "calls 3 and 4"),
        (3, 0.51, "cost 0.5 and 0.51"),
        (2, 9, "calls 3 and 2, cost 0.5 and 9"),
    ],
)
def test_another_use_is_named_and_the_trajectory_counts(
    tmp_path: Path, calls: int, cost: float, told: str | None
) -> None:
    submission(tmp_path / "a", {"t1": detail(True, calls, cost)}, "t1")
    found = read(tmp_path)
    row = by_task(found)["t1"]
    assert (row.solved, row.use.calls, float(row.use.cost or 0)) == (True, 3, 0.5)
    expected = () if told is None else (f"model-m on t1: {told}",)
    assert tuple(t.rpartition(" in ")[0] for t in named(found, "details_differ")) == expected


def test_a_cost_rounded_to_cents_is_the_same(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1", cost=0.12345)
    mini_trajectory(tmp_path, "t2", cost=0.12845)
    put(tmp_path / NAME, {"t1": detail(True, 3, 0.12), "t2": detail(True, 3, 0.12)})
    (told,) = named(read(tmp_path), "details_differ")
    assert "on t2: cost 0.12845 and 0.12 in" in told


def test_what_the_trajectory_or_the_details_do_not_tell_is_not_compared(tmp_path: Path) -> None:
    swe_agent_trajectory(tmp_path, "t1", api_calls=None, instance_cost=None)
    swe_agent_trajectory(tmp_path, "t2")
    put(tmp_path / NAME, {"t1": detail(True, 7, 1.5), "t2": {"resolved": True}})
    found = read(tmp_path)
    assert {row.solved for row in found.rows} == {True}
    assert not named(found, "details_differ")


def test_a_task_without_a_trajectory_is_taken_from_the_details(tmp_path: Path) -> None:
    details = {"t1": detail(True, 3, 0.5), "t2": detail(True, 8, 0.75)}
    submission(tmp_path / "a", details, "t1")
    report(tmp_path / "a" / "results", ["t1", "t2"], [])
    found = read(tmp_path)
    row = by_task(found)["t2"]
    assert (row.agent, row.solved, row.error) == ("model-m", True, None)
    assert (row.use.calls, row.use.tokens) == (8, None)
    (told,) = named(found, "details_alone")
    assert told.startswith("model-m on t2: ")
    assert not named(found, "verdict_without_log")


def test_details_above_two_runs_of_one_task_are_used_for_none_and_named(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "x", "t1", model="one")
    mini_trajectory(tmp_path / "y", "t1", model="two")
    mini_trajectory(tmp_path / "y", "t2", model="two")
    put(tmp_path / NAME, {"t1": detail(True, 3, 0.5), "t2": detail(True, 3, 0.5)})
    found = read(tmp_path)
    assert verdicts(found) == {("one", "t1"): None, ("two", "t1"): None, ("two", "t2"): True}
    (told,) = named(found, "verdict_not_used")
    assert "1 of 2 verdicts could be of one in" in told
    assert "cure: put the details into the run's folder" in told


def test_details_of_a_folder_called_after_the_agent_state_no_controls_of_it(tmp_path: Path) -> None:
    submission(
        tmp_path / "m", {"t1": detail(True, 3, 0.5), "t2": {"resolved": True}}, "t1", model="m"
    )
    found = read(tmp_path)
    assert verdicts(found) == {("m", "t1"): True, ("m", "t2"): True}
    assert not named(found, "control_differs")


def test_a_run_in_parts_has_one_file_of_details(tmp_path: Path) -> None:
    for number in (1, 2):
        mini_trajectory(tmp_path / f"part{number}", f"t{number}")
    details = {"t1": detail(True, 3, 0.5), "t2": detail(False, 3, 0.5), "t3": detail(True, 1, 0.5)}
    put(tmp_path / NAME, details)
    found = read(tmp_path)
    expected = {("model-m", "t1"): True, ("model-m", "t2"): False, ("model-m", "t3"): True}
    assert verdicts(found) == expected
    assert not named(found, "told_apart")


def test_details_of_several_agents_are_verdicts_on_those_that_they_name(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "x", "t1", model="prov/one")
    mini_trajectory(tmp_path / "y", "t1", model="prov/two")
    held = {"t1": detail(True, 3, 0.5)}
    put(tmp_path / "all.json", {"prov/one": held, "prov/three": held})
    assert verdicts(read(tmp_path)) == {
        ("prov/one", "t1"): True,
        ("prov/two", "t1"): None,
        ("prov/three", "t1"): True,
    }


def test_details_and_reports_that_disagree_leave_a_run_without_a_verdict(tmp_path: Path) -> None:
    submission(tmp_path / "a", {"t1": detail(True, 3, 0.5)}, "t1")
    report(tmp_path / "a" / "results", [], ["t1"])
    assert by_task(read(tmp_path))["t1"].error == "reports_disagree"


def test_rows_that_hold_their_own_verdict_are_no_trajectories(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("agent,task,solved,calls\nz,t1,false,3\n")
    put(tmp_path / NAME, {"t1": detail(True, 3, 0.5)})
    assert verdicts(read(tmp_path)) == {("z", "t1"): False, (tmp_path.name, "t1"): True}
