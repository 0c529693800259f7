"""Files of the store that were deleted or edited behind a finished table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from project import EXPERIMENT, Project, cells_of, tree

LABEL = "stubborn greet calls-1 repeat 0"
#: What is made again behind a lost cell: the table and all that stands on it.
AGAIN = {k: v for k, v in EXPERIMENT.items() if not k.startswith("freeze")}


def row_of(project: Project, label: str) -> dict[str, Any]:
    names = ("agent", "task", "budget")
    return next(row for row in project.rows() if label.split()[:3] == [row[name] for name in names])


def run_of(project: Project, label: str = LABEL) -> Path:
    return project / f"results/runs/{row_of(project, label)['run_key']}"


def grade_of(project: Project, label: str = LABEL) -> Path:
    return project / f"results/grades/{row_of(project, label)['grade_key']}"


def edit(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


@pytest.mark.parametrize("what", ["run.json", "the whole grade"])
def test_a_deleted_leaf_is_named_and_made_again(project: Project, what: str) -> None:
    before = project.published()
    folder = run_of(project) if what == "run.json" else grade_of(project)
    if what == "run.json":
        (folder / what).unlink()
    else:
        shutil.rmtree(folder)
    verified = project.frozenbench("verify")
    assert verified.status == 1
    assert folder.name in verified.said

    due = project.due()
    assert folder.name in due.said
    assert f"({LABEL})" in due.said
    runs = [LABEL] if what == "run.json" else []
    assert (due.runs, due.grades, due.others) == (runs, [LABEL], AGAIN)
    ran = project.succeeds()
    assert (ran.runs, ran.grades, ran.others) == (runs, [LABEL], AGAIN)
    assert project.published()["cells.parquet"] == before["cells.parquet"]
    assert project.due().rules == {}
    assert project.frozenbench("verify").status == 0


def edited_grade(project: Project) -> Path:
    path = grade_of(project, "stubborn greet calls-1") / "grade.json"
    edit(path, outcome="PASS", reason="green_at_cap")
    return path.parent


def edited_log(project: Project) -> Path:
    path = grade_of(project, "stubborn double calls-1") / "log"
    path.write_text("all well\n")
    return path.parent


def edited_run(project: Project) -> Path:
    path = run_of(project, "stubborn greet calls-1") / "run.json"
    edit(path, meters=json.loads(path.read_text())["meters"] | {"tool_calls": 99})
    return path.parent


def edited_snapshot(project: Project) -> Path:
    """An earlier one, which decides under the other policy alone."""
    folder = run_of(project, "stubborn greet calls-3")
    path = min((folder / "snapshots").iterdir())
    path.write_text(path.read_text().replace("name", "nome"))
    return folder


def edited_trace(project: Project) -> Path:
    path = run_of(project, "steady greet calls-1") / "trace.jsonl"
    path.write_text(path.read_text() + "{}\n")
    return path.parent


def edited_verdict(project: Project) -> Path:
    grade = grade_of(project, "steady greet calls-1") / "grade.json"
    key = json.loads(grade.read_text())["verdicts"][0]
    path = project / f"results/verdicts/{key[:2]}/{key}.json"
    edit(path, verdict=json.loads(path.read_text())["verdict"] | {"green": True})
    return path


def edited_table(project: Project) -> Path:
    """A whole and readable table, and not the right one."""
    folder = project.experiments()[0]
    shutil.copyfile(folder / "measured.parquet", folder / "cells.parquet")
    return folder


def edited_expectation(project: Project) -> Path:
    path = next((project / "results/frozen/expected").glob("*/*.json"))
    edit(path, ids=[])
    return path


def edited_fixture(project: Project) -> Path:
    folder = (
        project / f"results/frozen/tasks/{row_of(project, 'noop greet calls-1')['task_digest']}"
    )
    (folder / "fixture/greeting.py").write_text("# edited\n")
    return folder


def edited_hidden_test(project: Project) -> Path:
    digest = row_of(project, "noop double calls-1")["grader_digest"]
    folder = project / f"results/frozen/graders/{digest}"
    (folder / "hidden/graders/double/test_double.py").write_text("")
    return folder


EDITS = [
    edited_grade,
    edited_log,
    edited_run,
    edited_snapshot,
    edited_trace,
    edited_verdict,
    edited_expectation,
    edited_hidden_test,
    edited_fixture,
    edited_table,
]


def named_by_verify(project: Project) -> set[Path]:
    verified = project.frozenbench("verify")
    *lines, last = verified.out.splitlines()
    assert (verified.status == 0) == (not lines)
    assert not lines or last.startswith(f"{len(lines)} problems; cure: ")
    return {project / line.split(": ")[0] for line in lines}


def test_every_edited_file_is_named_and_removing_it_is_the_cure(project: Project) -> None:
    before = project.cells()
    edited = {change(project) for change in EDITS}
    named = named_by_verify(project)
    assert edited <= named
    for path in named:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    project.succeeds()
    assert project.cells() == before
    assert named_by_verify(project) == set()


def test_what_a_published_folder_was_made_of_is_made_again(project: Project) -> None:
    """Also where all of it is gone, and the mark of the published folder is there."""
    before = project.cells()
    shown = (project / "results/small/cells.parquet").read_bytes()
    for name in ("experiments", "grades"):
        shutil.rmtree(project / "results" / name)
    assert any("are gone" in line for line in project.snakemake("-n").said.splitlines())
    assert project.succeeds().grades == cells_of()
    assert project.cells() == before
    assert named_by_verify(project) == set()

    (project / "results/small/cells.parquet").unlink()
    (published,) = named_by_verify(project)
    assert published == project / "results/small"
    shutil.rmtree(published)
    project.succeeds()
    assert (published / "cells.parquet").read_bytes() == shown


def test_deleted_frozen_files_are_frozen_again_when_they_are_needed(project: Project) -> None:
    """The cells that stand on them are right all the same: nothing is due until new cells are."""
    before = project.cells()
    for name in ("tasks", "graders", "agents"):
        shutil.rmtree(project / "results/frozen" / name)
    assert project.due().rules == {}
    assert named_by_verify(project), "a run whose frozen task is gone cannot be checked"

    more = {"name": "calls-2", "max_tool_calls": 2, "max_tokens": 1000, "max_seconds": 60}
    project.change_config(lambda config: config["budgets"].append(more))
    ran = project.succeeds()
    assert ran.runs == ran.grades == cells_of(budgets=["calls-2"])
    frozen = {"freeze_task": 2, "freeze_grader": 2, "freeze_agent": 2}
    assert ran.others == EXPERIMENT | frozen
    assert project.frozenbench("verify").status == 0
    assert project.cells() != before


def test_garbage_is_what_no_experiment_holds(project: Project) -> None:
    kept = set(tree(project / "results"))
    assert "everything in the store belongs" in project.frozenbench("gc", "--remove").out
    assert set(tree(project / "results")) == kept

    shutil.rmtree(project.experiments()[0])
    listed = project.frozenbench("gc").out
    assert (
        len([line for line in listed.splitlines() if line.startswith("unused results/runs")]) == 16
    )
    removed = project.frozenbench("gc", "--remove")
    assert removed.status == 0
    left = set(tree(project / "results"))
    assert not [name for name in left if name.startswith(("runs/", "grades/", "verdicts/"))]
    assert [name for name in left if name.startswith("frozen/environments/")]
