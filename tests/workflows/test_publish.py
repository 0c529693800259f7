"""results/<name>/ always shows the experiment of the config, also after going back to an old one."""

from __future__ import annotations

import shutil

import pytest
from project import CLOSING, EXPERIMENT, VIEW, Project
from small_experiment import TASKS, write_lines


@pytest.mark.parametrize("memory", [True, False], ids=["with .snakemake", "without .snakemake"])
def test_there_and_back_publishes_once_and_makes_nothing(project: Project, memory: bool) -> None:
    before = project.published()
    write_lines(project.folder, *TASKS, greet={"weight": 1})
    project.change_config(lambda config: config.update(title="B"))
    there = project.succeeds()
    assert (there.runs, there.grades, there.others) == ([], [], EXPERIMENT)
    assert project.published()["cells.parquet"] != before["cells.parquet"]
    assert project.published()["README.md"] != before["README.md"]

    write_lines(project.folder, *TASKS)
    project.change_config(lambda config: config.pop("title"))
    if not memory:
        shutil.rmtree(project / ".snakemake")
    back = project.succeeds()
    assert back.rules == CLOSING
    assert project.published() == before
    assert project.due().rules == {}


def test_a_view_there_and_back(project: Project) -> None:
    before = project.published()
    project.change_config(lambda config: config.update(title="Another title"))
    there = project.succeeds()
    assert there.rules == VIEW
    seen = project.published()
    assert seen["cells.parquet"] == before["cells.parquet"]
    assert b"Another title" in seen["README.md"] + seen["figures/budget_curves.svg"]

    project.change_config(lambda config: config.pop("title"))
    assert project.succeeds().rules == CLOSING
    assert project.published() == before


def test_another_name_has_another_folder(project: Project) -> None:
    before = project.published()
    project.change_config(lambda config: config["experiment"].update(name="other"))
    ran = project.succeeds()
    assert (ran.runs, ran.grades) == ([], [])
    assert project.published() == before
    assert project.outcomes("other") == project.outcomes()


def test_what_a_reader_finds(base: Project) -> None:
    shown = base.published()
    assert {"README.md", "cells.parquet", "measured.parquet", "controls.json"} <= set(shown)
    assert {f"figures/budget_curves.{kind}" for kind in ("pdf", "png", "svg")} <= set(shown)
    assert "score_bundle.json" in shown
    hidden = [path.name for path in (base / "results/small").rglob(".*")]
    assert all(name.startswith((".published-", ".checked-")) for name in hidden)


def test_nothing_in_the_results_tells_of_this_machine(base: Project) -> None:
    """No absolute path of the project in anything that a reader is given."""
    for name, data in base.published().items():
        assert str(base.folder).encode() not in data, name
