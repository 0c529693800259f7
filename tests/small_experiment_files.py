"""The files of one experiment and view behind a score, made from rows by the real functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozenbench.canonical import write_json
from frozenbench.contrast import contrast
from frozenbench.plan import Plan
from frozenbench.refusals import refusals_of
from frozenbench.table import CELLS, CONTROLS_KEY, MEASURED, RESPONSES_KEY, write_table
from frozenbench.write_page import write_page
from small_study import CHAT, Study, changed
from small_table import Rows

Change = Callable[[Study, Rows], None]
NO_RESPONSES = {"distinct": 0, "first_date": None, "last_date": None, "recorded": False}


class Files:
    """Everything from cells.parquet to the page, below `folder`; no figure is drawn."""

    def __init__(self, folder: Path, plan: Plan, rows: Rows, responses: Any = None) -> None:
        self.plan, self.rows = plan, rows
        self.experiment = folder / "experiment"
        self.view = folder / "view"
        self.statistics, self.page = self.view / "statistics", self.view / "page"
        metadata = {CONTROLS_KEY: rows.controls}
        write_json(self.experiment / "controls.json", rows.controls)
        write_table(self.experiment / "cells.parquet", rows.cells, CELLS, metadata)
        metadata[RESPONSES_KEY] = responses or NO_RESPONSES
        write_table(self.experiment / "measured.parquet", rows.measured, MEASURED, metadata)
        refusals = [r.as_dict() for r in refusals_of(rows.controls, rows.cells, rows.measured)]
        write_json(self.experiment / "refusals.json", {"refusals": refusals})
        write_json(self.view / "view.json", plan.view)
        tables = [self.experiment / name for name in ("cells.parquet", "measured.parquet")]
        documents = [self.experiment / "controls.json", self.view / "view.json"]
        refused = self.experiment / "refusals.json"
        contrast(*tables, *documents, refused, self.statistics)
        write_page(self.statistics, *documents, tables[1], tables[0], self.page)

    @property
    def text(self) -> str:
        return (self.page / "README.md").read_text("utf-8")


def study_of(root: Path) -> Study:
    study = Study(root)
    study.agents["one"] = {**CHAT}
    study.config = changed(study.config, "statistics.resamples", 100)
    study.config["figures"] = ["budget_curves", "outcomes"]
    study.config["budgets"].append({"name": "free", "max_seconds": 60.5})
    return study


def outcomes(rows: Rows) -> None:
    """One passes nothing under calls-1 and all else; two passes alpha alone."""
    cap = {"outcome": "EXHAUSTED", "reason": "tool_calls", "cap_hit": "tool_calls"}
    rows.change({"agent": "one", "budget": "calls-1"}, **cap)
    rows.change({"agent": "two", "task": "beta"}, outcome="FAIL_ASSUME", reason="ghost_import")
    rows.change({"agent": "one", "task": "beta", "budget": "free"}, tokens=None)


def files_of(root: Path, *changes: Change, responses: Any = None, **config: Any) -> Files:
    """Return the files of the study after changes of its project and of its rows."""
    study = study_of(root)
    study.config |= config
    for change in changes:
        change(study, Rows(study.plan().controls))
    plan = study.plan()
    rows = Rows(plan.controls)
    outcomes(rows)
    for change in changes:
        change(study, rows)
    return Files(root / "files", plan, rows, responses)
