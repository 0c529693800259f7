"""What a write-up is made from: the tables and control sheets of one view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from frozenbench.import_lines import TRUNCATED

Row = Mapping[str, Any]
#: What `every_step` is called wherever a score stands that it made.
ORACLE = "an oracle stop, best of k"


@dataclass(frozen=True)
class Inputs:
    """Everything that the texts tell.

    Attributes:
        controls, view: controls.json and view.json.
        responses: what is known of the model responses (metadata of measured.parquet).
        summary, contrasts, flips, areas: rows of the tables of those names.
        statistics: statistics.json.
        cells_sha256: digest of cells.parquet.
        measured: agent, budget, task and seconds of each cell.
    """

    controls: Mapping[str, Any]
    view: Mapping[str, Any]
    responses: Mapping[str, Any]
    summary: Sequence[Row]
    contrasts: Sequence[Row]
    flips: Sequence[Row]
    areas: Sequence[Row]
    statistics: Mapping[str, Any]
    cells_sha256: str
    measured: Sequence[Row]

    @property
    def name(self) -> str:
        """The experiment's name."""
        return str(self.controls["experiment"]["name"])

    @property
    def slices(self) -> tuple[str, ...]:
        """The slices that have tasks, as the tables order them."""
        return tuple(dict.fromkeys(row["slice"] for row in self.summary))

    @cached_property
    def seconds_n(self) -> Mapping[tuple[str, str, str], int]:
        """Slice, agent, budget -> cells of its rates that report their seconds, which no table counts."""
        rated = {
            name: task["split"]
            for name, task in self.controls["tasks"].items()
            if task["network"] != "open"
        }
        return Counter(
            (rated[row["task"]], row["agent"], row["budget"])
            for row in self.measured
            if row["seconds"] is not None and row["task"] in rated
        )

    @property
    def origin(self) -> str:
        """Which experiment and pack a number is of: no file goes without it."""
        pack = " ".join(self.view["pack"]["name"].split())
        return (
            f"experiment {self.name} {self.controls['experiment']['digest'][:12]}, "
            f"pack {pack} {self.controls['pack']['digest'][:12]}"
        )

    @property
    def graded(self) -> str:
        """How rates came about where they are not what one run under a budget leaves; else empty."""
        if "source" in self.controls:
            return f" {TRUNCATED.capitalize()}: lower bounds, no budget was enforced."
        if self.controls["grading"] == "every_step":
            return f" Graded every_step: {ORACLE}."
        return ""
