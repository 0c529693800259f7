"""Files of the store that were deleted or edited behind a finished table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from project import EXPERIMENT, Project, cells_of

CELL = ("stubborn", "greet", "calls-1")
LABEL = "stubborn greet calls-1 repeat 0"
#: What is made again behind a lost cell: the table and all that stands on it.
AGAIN = {k: v for k, v in EXPERIMENT.items() if not k.startswith("freeze")}


def row_of(project: Project) -> dict[str, Any]:
    return next(r for r in project.rows() if (r["agent"], r["task"], r["budget"]) == CELL)


def run_of(project: Project) -> Path:
    return project / f"results/runs/{row_of(project)['run_key']}"


def grade_of(project: Project) -> Path:
    return project / f"results/grades/{row_of(project)['grade_key']}"


def edit(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


@pytest.mark.parametrize("what", ["run.json", "the run", "grade.json", "the grade"])
def test_a_deleted_leaf_is_named_and_made_again(project: Project, what: str) -> None:
    before = project.published()
    folder = run_of(project) if "run" in what else grade_of(project)
    if what.startswith("the"):
        shutil.rmtree(folder)
    else:
        (folder / what).unlink()
    verified = project.frozenbench("verify")
    assert verified.status == 1
    assert folder.name in verified.said

    due = project.due()
    assert folder.name in due.said
    assert f"({LABEL})" in due.said
    runs = [LABEL] if "run" in what else []
    assert (due.runs, due.grades, due.others) == (runs, [LABEL], AGAIN)
    ran = project.succeeds()
    assert (ran.runs, ran.grades, ran.others) == (runs, [LABEL], AGAIN)
    assert project.published()["cells.parquet"] == before["cells.parquet"]
    assert project.due().rules == {}
    assert project.frozenbench("verify").status == 0


def edited_grade(project: Project) -> Path:
    edit(grade_of(project) / "grade.json", outcome="PASS", reason="green_at_cap")
    return grade_of(project)


def edited_run(project: Project) -> Path:
    path = run_of(project) / "run.json"
    edit(path, meters=json.loads(path.read_text())["meters"] | {"tool_calls": 99})
    return path.parent


def edited_snapshot(project: Project) -> Path:
    path = next((run_of(project) / "snapshots").iterdir())
    path.write_text(path.read_text().replace("name", "nome"))
    return run_of(project)


def edited_trace(project: Project) -> Path:
    path = run_of(project) / "trace.jsonl"
    path.write_text(path.read_text() + "{}\n")
    return path.parent


def edited_verdict(project: Project) -> Path:
    key = json.loads((grade_of(project) / "grade.json").read_text())["verdicts"][0]
    path = project / f"results/verdicts/{key[:2]}/{key}.json"
    verdict = json.loads(path.read_text())["verdict"]
    edit(path, verdict=verdict | {"green": True})
    return path


def edited_table(project: Project) -> Path:
    """A row of another table in its place."""
    folder = project.experiments()[0]
    path = folder / "cells.parquet"
    path.write_bytes((folder / "measured.parquet").read_bytes())
    return folder


def edited_expectation(project: Project) -> Path:
    path = next((project / "results/frozen/expected").glob("*/*.json"))
    edit(path, ids=[])
    return path


def edited_fixture(project: Project) -> Path:
    path = next((project / "results/frozen/tasks").glob("*/fixture/*.py"))
    path.write_text(path.read_text() + "# edited\n")
    return path.parents[1]


def edited_hidden_test(project: Project) -> Path:
    path = next((project / "results/frozen/graders").glob("*/hidden/**/*.py"))
    path.write_text("")
    return next(p for p in path.parents if p.parent.name == "graders" and len(p.name) == 64)


EDITS = [
    edited_grade,
    edited_run,
    edited_snapshot,
    edited_trace,
    edited_verdict,
    edited_table,
    edited_expectation,
    edited_fixture,
    edited_hidden_test,
]


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_an_edited_file_is_found_by_verify(project: Project, change: Any) -> None:
    """It is named itself, so that `remove what is named` is the whole cure."""
    before = project.cells()
    place = change(project)
    verified = project.frozenbench("verify")
    assert verified.status == 1
    named = [line.split(": ")[0] for line in verified.out.splitlines()[:-1]]
    assert place.relative_to(project.folder).as_posix() in named, verified.out

    for name in named:
        path = project / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    project.succeeds()
    assert project.cells() == before
    verified = project.frozenbench("verify")
    assert verified.status == 0, verified.said


def test_deleted_frozen_files_are_frozen_again_when_they_are_needed(project: Project) -> None:
    """The cells that stand on them are right all the same: nothing is due until new cells are."""
    before = project.cells()
    for name in ("tasks", "graders", "agents"):
        shutil.rmtree(project / "results/frozen" / name)
    assert project.due().rules == {}
    verified = project.frozenbench("verify")
    assert verified.status == 1, "a run whose frozen task is gone cannot be checked"

    more = {"name": "calls-2", "max_tool_calls": 2, "max_tokens": 1000, "max_seconds": 60}
    project.change_config(lambda config: config["budgets"].append(more))
    ran = project.succeeds()
    assert ran.runs == ran.grades == cells_of(budgets=["calls-2"])
    frozen = {"freeze_task": 2, "freeze_grader": 2, "freeze_agent": 2}
    assert ran.others == EXPERIMENT | frozen
    assert project.frozenbench("verify").status == 0
    assert project.cells() != before


def test_garbage_is_what_no_experiment_holds(project: Project) -> None:
    assert "everything in the store belongs" in project.frozenbench("gc").out
    kept = sorted(path.name for path in (project / "results/runs").iterdir())
    project.change_config(lambda config: config.update(repeats=2))
    project.succeeds()
    newest = project.experiments()[-1]
    shutil.rmtree(newest)
    removed = project.frozenbench("gc", "--remove")
    assert removed.status == 0
    assert sorted(path.name for path in (project / "results/runs").iterdir()) == kept
    project.change_config(lambda config: config.update(repeats=1))
    back = project.succeeds()
    assert (back.runs, back.grades) == ([], [])
    assert project.frozenbench("verify").status == 0
