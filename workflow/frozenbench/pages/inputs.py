"""Everything that a results page tells, read from the experiment's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from frozenbench.pages.blocks import Story

#: What the page and score_bundle.json read of cells.parquet and of measured.parquet.
CELL_COLUMNS = (
    *("agent", "task", "budget", "repeat", "control", "outcome", "reason", "cap_hit"),
    *("tool_calls", "edit_rounds", "tokens", "weight", "split", "network"),
    *("tests_expected", "tests_passed"),
    *("run_key", "grade_key", "task_digest", "grader_digest", "artifact_sha256"),
)
MEASURED_COLUMNS = ("seconds", "spend", "machine_class", "warm", "attempts", "infra_retries")

Row = Mapping[str, Any]
Rows = Sequence[Row]


def task_name(controls: Mapping[str, Any], task: str) -> str:
    """Return what a page calls a task: of a held-out one the first digits of its digest."""
    facts = controls["tasks"][task]
    return str(facts["task_digest"])[:12] if facts["split"] == "held_out" else task


@dataclass(frozen=True)
class PageInputs:
    """The documents and tables of one view; rows of `cells` and `measured` in the same order."""

    controls: Mapping[str, Any]
    view: Mapping[str, Any]
    responses: Mapping[str, Any]
    cells: Rows
    measured: Rows
    summary: Rows
    contrasts: Rows
    flips: Rows
    statistics: Mapping[str, Any]
    areas: Rows = ()
    pack_check: Mapping[str, Any] | None = None
    stories: Sequence[Story] = field(default=())

    @property
    def slices(self) -> list[str]:
        """The slices that have rates, in the order of the tables."""
        return list(dict.fromkeys(str(row["slice"]) for row in self.summary))

    @property
    def several(self) -> bool:
        """Whether there is more than the public slice, so that each is named."""
        return self.slices != ["public"]

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return the headline numbers of a slice."""
        found: Mapping[str, Any] = self.statistics["slices"][name]
        return found

    @cached_property
    def rated(self) -> list[Row]:
        """The cells that are in the rates: no control cells, no task with an open network."""
        return [row for row in self.cells if not row["control"] and row["network"] != "open"]

    def cells_of(self, name: str, agent: str, budget: str) -> list[Row]:
        """Return the rated cells of a slice, an agent and a budget."""
        return self._places.get((name, agent, budget), [])

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], list[Row]]:
        found: dict[tuple[str, str, str], list[Row]] = {}
        for row in self.rated:
            found.setdefault((row["split"], row["agent"], row["budget"]), []).append(row)
        return found
