"""Inputs of the jobs that make tables, statistics, figures and page: of runs and of imported logs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.import_plan import ImportPlan
from frozenbench.plan import Plan, PlannedCell


def own_command() -> str:
    """Return the words that every job starts with: this package, under this interpreter.

    The interpreter is named by a variable that jobs inherit; a job on another machine has it because
    it reads the Snakefile there. Its path in a rule's params would stand in Snakemake's report.
    """
    os.environ["FROZENBENCH_PYTHON"] = sys.executable
    return 'exec "$FROZENBENCH_PYTHON" -m frozenbench'


@dataclass(frozen=True)
class ViewJobs:
    """The jobs of one plan behind its cells; those of an import are all of its jobs."""

    plan: Plan | ImportPlan

    @property
    def controls(self) -> Path:
        """The experiment's controls."""
        return self.plan.folder / "controls.json"

    @cached_property
    def lost(self) -> list[PlannedCell]:
        """Cells of which the store has lost a run or a grade that something stands on."""
        return self.plan.lost_cells() if isinstance(self.plan, Plan) else []

    def missing(self) -> list[str]:
        """Return the runs and grades that are gone, and what of a published experiment is.

        Behind a mark that is there Snakemake does not look for what is missing in between.
        """
        leaves = {leaf for cell in self.lost for leaf in Plan.leaves(cell)}
        plan = self.plan
        mark = layout.published_marker(plan.name, plan.digest, plan.view_digest)
        wanted = [*leaves, *(self._shown() if mark.exists() else ())]
        return sorted(path.as_posix() for path in wanted if not path.exists())

    def settled(self, *outputs: str | Path, **inputs: Any) -> dict[str, Any]:
        """Return the inputs of a job whose outputs, once they are there, are right.

        They are `ancient` then: in a copied store, times come in any order. While an output is
        missing they are plain, because behind `ancient` inputs that are made again Snakemake does
        not look for missing outputs: after a killed run it would stop half-way and say "done".
        """
        if self.lost or not all(Path(output).exists() for output in outputs):
            return inputs
        from snakemake.io import ancient  # type: ignore[import-untyped]

        return {name: ancient(path) for name, path in inputs.items()}

    def shown(self, mark: str | Path, /, *outputs: str | Path, **inputs: Any) -> dict[str, Any]:
        """Return the inputs of publishing and of what follows it.

        They are settled only while all that the published folder shows is there: publishing empties
        the folder, and a mark of an earlier check must not stand for a later one.
        """
        if all(path.exists() for path in (Path(mark), *self._shown())):
            return self.settled(*outputs, **inputs)
        return inputs

    def _shown(self) -> list[Path]:
        """Return what the published folder is made of."""
        plan, view = self.plan, self.plan.view_folder
        parts = [view / name for name in ("statistics", "page", "write_up")]
        figures = [view / "figures" / name for name in plan.config.figures]
        return [plan.folder / "cells.parquet", *parts, *figures, *self._crossings()]

    def crossings(self) -> dict[str, list[str]]:
        """Return what publishing an import needs besides: the crossings at all caps."""
        found = self._crossings()
        return {"crossings": [path.as_posix() for path in found]} if found else {}

    def _crossings(self) -> Sequence[Path]:
        imported = isinstance(self.plan, ImportPlan)
        return [self.plan.view_folder / "crossings"] if imported else []

    def view_controls(self) -> dict[str, Any]:
        """Inputs of freeze_view: an import's agents and budgets follow from its logs."""
        if isinstance(self.plan, Plan):
            return {}
        return self.settled(self.plan.view_folder / "view.json", controls=self.controls.as_posix())

    def page_inputs(self) -> dict[str, Any]:
        """Inputs of write_page: it holds the figures, so that it is one file."""
        figures = [self.plan.view_folder / "figures" / name for name in self.plan.config.figures]
        return self.view_inputs("page", figures=[path.as_posix() for path in figures])

    def view_inputs(self, output: str, **more: Any) -> dict[str, Any]:
        """Inputs of what is drawn or written of a view: `output` lies in the view's folder."""
        tables, view = self.plan.folder, self.plan.view_folder
        found = {
            "statistics": view / "statistics",
            "cells": tables / "cells.parquet",
            "measured": tables / "measured.parquet",
            "controls": self.controls,
            "view": view / "view.json",
        }
        paths = {name: path.as_posix() for name, path in found.items()}
        return self.settled(view / output, **paths, **more)
