"""score_bundle.json: every score of an experiment with the controls that it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenbench.canonical import Refused

_Row = Mapping[str, Any]
Rows = Sequence[_Row]
_Places = dict[tuple[str, str, str], list[tuple[_Row, _Row]]]

#: What an entry is never written without.
FIRST_FIVE = ("pack_sha256", "pack_file_sha256", "controls", "budget", "headline_metric")


def score_bundle(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    summary: Rows,
    cells: Rows,
    measured: Rows,
) -> dict[str, Any]:
    """Return the document: one entry for each slice, budget and agent.

    Args:
        controls, view: the two control documents.
        summary: rows of summary.parquet.
        cells, measured: rows of the two tables, in the same order.

    Raises:
        Refused: one of the first five fields is not known.
    """
    places = _places(cells, measured)
    entries = [_entry(controls, view, row, places) for row in summary]
    for entry in entries:
        for name in FIRST_FIVE:
            if not entry[name]:
                raise Refused(f"score_bundle.json: {name} is missing; no score without it")
    return {"experiment": dict(controls["experiment"]), "scores": entries}


def _entry(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    row: Mapping[str, Any],
    places: _Places,
) -> dict[str, Any]:
    agent = controls["agents"][row["agent"]]
    return {
        "pack_sha256": controls["pack"]["digest"],
        "pack_file_sha256": view["pack"]["file_sha256"],
        "controls": {
            "experiment_digest": controls["experiment"]["digest"],
            "agent_sheet": agent["sheet"],
            "agent_sheet_digest": agent["sheet_digest"],
            "unpinned": agent["unpinned"],
            "accepted": controls["accepted"],
            **{name: controls[name] for name in ("environment", "grading", "clock", "repeats")},
            **{name: controls[name] for name in ("budget_disclosed", "responses_policy")},
            "task_subset": controls["task_subset"],
        },
        "budget": {"name": row["budget"], **controls["budgets"][row["budget"]]},
        "headline_metric": controls["metric"],
        "slice": row["slice"],
        "agent": row["agent"],
        "n": row["n"],
        "weighted_pass": row["weighted_pass_rate"],
        "median_seconds": row["median_seconds"],
        "tasks": _tasks(places.get((row["slice"], row["agent"], row["budget"]), ())),
    }


def _places(cells: Rows, measured: Rows) -> _Places:
    """Return the rated cells by slice, agent and budget: one pass, whatever the number of entries."""
    found: _Places = {}
    for cell, seen in zip(cells, measured, strict=True):
        if cell["network"] == "blocked":
            key = (cell["split"], cell["agent"], cell["budget"])
            found.setdefault(key, []).append((cell, seen))
    return found


def _tasks(rows: Sequence[tuple[_Row, _Row]]) -> list[dict[str, Any]]:
    return [
        {
            "id": cell["task"],
            "repeat": cell["repeat"],
            "weight": cell["weight"],
            "passed": cell["outcome"] == "PASS",
            "outcome": cell["outcome"],
            "reason": cell["reason"],
            "seconds": seen["seconds"],
            "tokens": cell["tokens"],
            "spend": seen["spend"],
        }
        for cell, seen in rows
    ]
