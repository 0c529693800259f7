"""The rows of both tables as an undisturbed experiment leaves them, to be changed by a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frozenbench import keys

Row = dict[str, Any]
OUTCOME = {
    "noop": ("EXHAUSTED", "tool_calls", "tool_calls"),
    "reference": ("PASS", "finished", None),
}


class Rows:
    """cells and measured of one controls document, row beside row."""

    def __init__(self, controls: Mapping[str, Any]) -> None:
        self.controls = controls
        self.cells: list[Row] = []
        self.measured: list[Row] = []
        for agent, task, budget, repeat in sorted(keys.expected_cells(controls)):
            names = {"agent": agent, "task": task, "budget": budget, "repeat": repeat}
            self.cells.append({**names, **self._cell(agent, task, budget, repeat)})
            self.measured.append({**names, **MEASURED})

    def _cell(self, agent: str, task: str, budget: str, repeat: int) -> Row:
        outcome, reason, cap_hit = OUTCOME.get(agent, ("PASS", "finished", None))
        facts = self.controls["tasks"][task]
        run_key = keys.run_key(self.controls, agent, task, budget, repeat)
        caps = keys.effective_caps(self.controls, task, budget)
        return {
            "control": self.controls["agents"][agent]["control"],
            "outcome": outcome,
            "reason": reason,
            "cap_hit": cap_hit,
            "tool_calls": 1,
            "edit_rounds": 1,
            "model_calls": None,
            "tokens": 100,
            "tokens_input": 60,
            "tokens_output": 40,
            "tokens_cached": 0,
            "tokens_undelivered": 0,
            **{f"cap_{meter}": value for meter, value in caps.items()},
            "weight": facts["weight"],
            "split": facts["split"],
            "network": facts["network"],
            "unmetered": False,
            "tests_expected": 1,
            "tests_passed": 1,
            "banned_ever": False,
            "grader_trust": facts["grader_trust"],
            "isolation": self.controls["environment"]["isolation"],
            "run_key": run_key,
            "grade_key": keys.grade_key(self.controls, task, run_key),
            "task_digest": facts["task_digest"],
            "grader_digest": facts["grader_digest"],
            "artifact_sha256": run_key[::-1],
        }

    def change(self, where: Mapping[str, Any], count: int | None = None, **values: Any) -> int:
        """Set values in the rows (of either table) that `where` names; return how many rows."""
        found = 0
        for cell, seen in zip(self.cells, self.measured, strict=True):
            if all(cell[name] == value for name, value in where.items()):
                if count is not None and found == count:
                    break
                found += 1
                for name, value in values.items():
                    (seen if name in seen and name not in cell else cell)[name] = value
        return found

    def drop(self, matches: Callable[[Row], bool]) -> None:
        """Remove rows from both tables."""
        kept = [not matches(cell) for cell in self.cells]
        self.cells = [row for row, keep in zip(self.cells, kept, strict=True) if keep]
        self.measured = [row for row, keep in zip(self.measured, kept, strict=True) if keep]


MEASURED: Row = {
    "seconds": 1.5,
    "model_seconds": 0.0,
    "startup_seconds": 0.1,
    "grade_seconds": 0.4,
    "spend": None,
    "currency": None,
    "infra_retries": 0,
    "attempts": 1,
    "responses_recorded": 0,
    "responses_live": 0,
    "machine_class": "x86-64 a",
    "isolation_measured": "userns",
    "model_observed": None,
    "warm": True,
}
