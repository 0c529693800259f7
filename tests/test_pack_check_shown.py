"""Where the result of a pack check is told, and where it must change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cell_project import files_with
from frozenbench import keys, layout
from frozenbench.canonical import read_json, write_json
from frozenbench.check_score import published_lines
from frozenbench.gc import collect_garbage
from frozenbench.pack_check.stored import of_experiment, said, store
from frozenbench.publish import content
from frozenbench.verify import verify_store
from frozenbench.verify_views import view_problem
from frozenbench.write_page import write_page
from small_experiment_files import Files, files_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result(files: Files, **changes: Any) -> dict[str, Any]:
    """Return a result of a check of the pack behind `files`."""
    shared = files.rows.controls["environment"]
    return {
        "pack_digest": files.plan.pack.digest,
        "environment": keys.environment_id(shared["lock_sha256"]),
        "isolation": shared["isolation"],
        "repeats": 3,
        "date": "2026-01-02",
        "findings": [],
        **changes,
    }


def finding(kind: str, task: str = "alpha") -> dict[str, Any]:
    return {"task": task, "kind": kind, "found": "test_secret", "cure": "c", "earlier": False}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "passed (k = 3, 2026-01-02)"),
        (
            {"findings": [finding("start_passes"), finding("slow_grader", "beta")]},
            "2 findings (k = 3, 2026-01-02): start_passes alpha, slow_grader beta",
        ),
        (
            {"findings": [finding("unqualified")]},
            "1 finding (k = 3, 2026-01-02): unqualified alpha",
        ),
        ({"isolation": "process"}, "not run"),
        ({"environment": "0" * 64}, "not run"),
    ],
)
def test_the_check_stands_above_the_score(here: Path, changes: dict[str, Any], line: str) -> None:
    files = files_of(here)
    assert "| pack check | not run |" in files.text.split("## Scores")[0]
    store(result(files, **changes))
    controls = files.rows.controls
    assert said(of_experiment(controls)) == line
    write_again(files)
    assert f"| pack check | {line} |" in files.text.split("## Scores")[0]
    assert files_with(files.page, "test_secret") == [], "a hidden test's name is no reader's"
    assert line == "not run" or (files.page / "pack_check.json").is_file()

    out = published(files, here)
    assert f"pack check: {line}" in published_lines(out)[0][:4]


def write_again(files: Files) -> None:
    write_page(
        statistics=files.statistics,
        controls=files.experiment / "controls.json",
        view=files.view / "view.json",
        measured=files.experiment / "measured.parquet",
        cells=files.experiment / "cells.parquet",
        out=files.page,
    )


def published(files: Files, root: Path) -> Path:
    (files.view / "figures").mkdir(exist_ok=True)
    out = root / layout.published(files.plan.name)
    for source, name in content(files.experiment, files.view):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(source.read_bytes())
    return out


def test_a_later_check_changes_no_page_and_verify_is_content(here: Path) -> None:
    files = files_of(here)
    experiment = here / "experiment-0"
    files.experiment.rename(experiment)
    view = experiment / "views" / "0"
    view.parent.mkdir()
    files.view.rename(view)
    files.experiment, files.view = experiment, view
    files.statistics, files.page = view / "statistics", view / "page"
    assert view_problem(view) is None
    store(result(files))
    assert view_problem(view) is None, "written before the check"
    write_again(files)
    assert "passed (k = 3, 2026-01-02)" in files.text
    store(result(files, date="2026-03-04"))
    assert view_problem(view) is None, "written before the second check"

    copy = read_json(files.page / "pack_check.json")
    write_json(files.page / "pack_check.json", {**copy, "repeats": 300})
    problem = view_problem(view)
    assert problem is not None
    assert problem.startswith("page/")


def test_a_check_is_in_no_digest(here: Path) -> None:
    files = files_of(here)
    before = (files.plan.digest, files.plan.view_digest, files.plan.pack.digest)
    store(result(files, findings=[finding("start_passes")]))
    plan = files_of(here).plan
    assert (plan.digest, plan.view_digest, plan.pack.digest) == before


def test_gc_keeps_the_checks_of_packs_that_experiments_have(here: Path) -> None:
    files = files_of(here)
    write_json(layout.RESULTS / "experiments" / "one" / "controls.json", files.rows.controls)
    kept, other = store(result(files)), store(result(files, pack_digest="0" * 64))
    assert str(other) in list(collect_garbage(remove=True))[-2]
    assert (kept.exists(), other.exists()) == (True, False)


def test_verify_tells_a_check_of_another_pack(here: Path) -> None:
    path = store(result(files_of(here)))
    path.rename(path.with_name("0" * 64 + ".json"))
    assert list(verify_store()) == [
        f"{path.with_name('0' * 64 + '.json')}: is the check of another pack"
    ]
