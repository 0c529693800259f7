"""retry sets infrastructure ERRORs aside, and what stands on them; it touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozenbench import layout
from frozenbench.outcomes import AGENT_ERRORS, INFRASTRUCTURE, REASONS
from frozenbench.plan import Plan, PlannedCell
from frozenbench.retry import retry
from frozenbench.seal import sealed
from frozenbench.void import void_lost
from small_study import Study, changed


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def finish(study: Study) -> Plan:
    """Lay down what a finished experiment leaves: every cell passed."""
    plan = study.plan()
    for cell in plan.cells:
        study.write(f"{layout.run(cell.run_key)}/run.json", "{}")
        study.write(f"{layout.run(cell.run_key)}/log", "first")
        study.write(f"{layout.run(cell.run_key)}/snapshots/0001.json", "{}")
        end(study, cell, "PASS", "finished")
    study.write(f"{plan.folder}/controls.json", json.dumps(plan.controls))
    for name in ("cells.parquet", "measured.parquet", "refusals.json"):
        study.write(f"{plan.folder}/{name}", "table")
    study.write(f"{plan.view_folder}/view.json", "{}")
    study.write(f"{plan.view_folder}/page/README.md", "page")
    for path in (layout.published_marker, layout.checked_marker):
        study.write(str(path(plan.name, plan.digest, plan.view_digest)), "")
    return plan


def end(study: Study, cell: PlannedCell, outcome: str, reason: str) -> None:
    grade = {"outcome": outcome, "reason": reason}
    study.write(f"{layout.grade(cell.grade_key)}/grade.json", json.dumps(sealed(grade)))


def the_cell(plan: Plan, number: int = 0) -> PlannedCell:
    return [cell for cell in plan.cells if cell.agent == "one"][number]


def leaves(plan: Plan, cell: PlannedCell) -> tuple[bool, bool]:
    run, grade = (leaf.exists() for leaf in plan.leaves(cell))
    return run, grade


@pytest.mark.parametrize("reason", INFRASTRUCTURE)
def test_an_infrastructure_error_is_set_aside(study: Study, reason: str) -> None:
    plan = finish(study)
    cell = the_cell(plan)
    end(study, cell, "ERROR", reason)
    assert list(retry(plan)) == [
        f"set aside: one alpha calls-1 repeat 0 ({reason})",
        "1 cells set aside; next: snakemake --cores 4",
    ]
    kept = reason == "grader_broken"
    assert leaves(plan, cell) == (kept, False), "a broken grader buys no run again"
    attempt = layout.run(cell.run_key) / "attempts" / "1"
    assert attempt.exists() is not kept
    if not kept:
        assert sorted(path.name for path in attempt.iterdir()) == ["log", "run.json", "snapshots"]
    others = [leaves(plan, other) for other in plan.cells if other != cell]
    assert set(others) == {(True, True)}


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        *(("ERROR", reason) for reason in AGENT_ERRORS),
        *((name, reason) for name, all_ in REASONS.items() if name != "ERROR" for reason in all_),
    ],
)
def test_no_other_cell_is_tried_again(study: Study, outcome: str, reason: str) -> None:
    plan = finish(study)
    end(study, the_cell(plan), outcome, reason)
    assert list(retry(plan)) == ["no cell ended in an infrastructure ERROR; nothing to do"]
    assert {leaves(plan, cell) for cell in plan.cells} == {(True, True)}
    assert (plan.folder / "cells.parquet").exists()


def test_what_stands_on_a_cell_that_is_set_aside_is_void(study: Study) -> None:
    plan = finish(study)
    end(study, the_cell(plan), "ERROR", "endpoint_down")
    list(retry(plan))
    left = {p.relative_to(plan.folder).as_posix() for p in plan.folder.rglob("*") if p.is_file()}
    view = plan.view_folder.relative_to(plan.folder).as_posix()
    assert left == {"controls.json", f"{view}/view.json"}
    marks = [path.name for path in layout.published(plan.name).glob(".*")]
    assert marks == [], "an older score is not shown as the current one"


def test_a_second_attempt_is_counted_beside_the_first(study: Study) -> None:
    plan = finish(study)
    cell = the_cell(plan)
    for attempt in (1, 2, 3):
        study.write(f"{layout.run(cell.run_key)}/run.json", json.dumps(attempt))
        end(study, cell, "ERROR", "killed")
        list(retry(plan))
    attempts = layout.run(cell.run_key) / "attempts"
    kept = {path.name: json.loads((path / "run.json").read_text()) for path in attempts.iterdir()}
    assert kept == {"1": 1, "2": 2, "3": 3}


def test_another_experiment_that_shares_the_run_is_void_too(study: Study) -> None:
    """Under the other policy the cell may have passed; its run is the same, and goes."""
    study.config = changed(study.config, "grading", "every_step")
    other = finish(study)
    study.config = changed(study.config, "grading", "final")
    study.config = changed(study.config, "experiment.name", "second")
    plan = finish(study)
    cell = the_cell(plan)
    end(study, cell, "ERROR", "endpoint_down")
    list(retry(plan))
    shared = next(c for c in other.cells if c.run_key == cell.run_key)
    assert leaves(other, shared) == (False, False)
    assert not (other.folder / "cells.parquet").exists()
    kept = [leaves(other, c) for c in other.cells if c.run_key != cell.run_key]
    assert set(kept) == {(True, True)}


def test_a_lost_run_takes_with_it_what_stands_on_it(study: Study) -> None:
    plan = finish(study)
    cell, untouched = the_cell(plan), the_cell(plan, 1)
    (layout.run(cell.run_key) / "run.json").unlink()
    void_lost(plan)
    assert leaves(plan, cell) == (False, False)
    assert leaves(plan, untouched) == (True, True)
    assert not (plan.folder / "cells.parquet").exists()


def test_where_nothing_is_lost_nothing_is_void(study: Study) -> None:
    plan = finish(study)
    before = sorted(study.root.rglob("*"))
    void_lost(plan)
    assert sorted(study.root.rglob("*")) == before
