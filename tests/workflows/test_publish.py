"""results/<name>/ always shows the experiment of the config, also after going back to an old one."""

from __future__ import annotations

import shutil
import sys

import pyarrow.parquet
from frozenbench.sandbox import base_folder
from project import CLOSING, EXPERIMENT, Project, files
from small_experiment import TASKS, write_lines


def test_there_and_back(project: Project) -> None:
    """A to B to A: nothing is made again but the published folder, and that shows A."""
    before = project.published()
    write_lines(project.folder, *TASKS, greet={"weight": 1})
    project.change_config(lambda config: config.update(title="Another title"))
    there = project.succeeds()
    assert (there.runs, there.grades, there.others) == ([], [], EXPERIMENT)
    seen = project.published()
    assert seen["cells.parquet"] != before["cells.parquet"]
    assert b"Another title" in seen["figures/budget_curves.svg"] + seen["README.md"]

    write_lines(project.folder, *TASKS)
    project.change_config(lambda config: config.pop("title"))
    forgetful = project.copy(project.folder.with_name("without memory"))
    shutil.rmtree(forgetful / ".snakemake")
    for back in (project, forgetful):
        assert back.succeeds().rules == CLOSING
        assert back.published() == before
        assert back.due().rules == {}


def test_what_a_reader_finds(base: Project) -> None:
    shown = base.published()
    assert {"README.md", "cells.parquet", "measured.parquet", "controls.json"} <= set(shown)
    assert {f"figures/budget_curves.{kind}" for kind in ("pdf", "png", "svg")} <= set(shown)
    assert "score_bundle.json" in shown
    assert "report.rst" not in shown, "it is the report's"
    page = shown["index.html"].decode()
    assert "data:image/svg+xml," in page
    for told in ("proposal 3", "+++ greeting.py", "frozenbench show stubborn greet calls-3"):
        assert told in page, "the cells of the crossing, step by step"
    hidden = [path.name for path in (base / "results/small").rglob(".*")]
    assert all(name.startswith((".published-", ".checked-")) for name in hidden)


def test_verify_writes_the_page_again_and_compares(project: Project) -> None:
    assert project.frozenbench("verify").status == 0
    (page,) = (project / "results/experiments").glob("*/views/*/page/index.html")
    whole = page.read_text("utf-8")
    page.write_text(whole.replace("100.0 %", "99.9 %", 1), "utf-8")
    ran = project.frozenbench("verify")
    assert ran.status == 1
    assert "page/index.html: is not what the tables give" in ran.said
    page.write_text(whole, "utf-8")
    assert project.frozenbench("verify").status == 0


def test_nothing_in_the_results_tells_of_this_machine(base: Project) -> None:
    """No path of the project, of its temporary files or of the interpreter, in any file."""
    telling = [str(base.folder), str(base_folder()), sys.prefix]
    for path in files(base / "results"):
        name = path.relative_to(base.folder).as_posix()
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
            data = f"{table.to_pylist()}{table.schema.metadata}".encode()
        else:
            data = path.read_bytes()
        assert [word for word in telling if word.encode() in data] == [], name
