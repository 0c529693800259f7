"""collect_cells: gather every expected cell into the two tables, and say what refuses a score."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frozenbench import keys, layout
from frozenbench.canonical import BadInput, read_json, write_json
from frozenbench.frozen import read_controls
from frozenbench.refusals import refusals_of
from frozenbench.seal import AGAIN, broken_seal, read_sealed
from frozenbench.table import (
    CELLS,
    CONTROLS_KEY,
    MEASURED,
    RESPONSES_KEY,
    sort_key,
    write_table,
)

GRADE_COLUMNS = (
    "outcome",
    "reason",
    "cap_hit",
    "tests_expected",
    "tests_passed",
    "banned_ever",
    "artifact_sha256",
)


def collect_cells(controls_path: Path, record: Path, out: Path) -> None:
    """Write cells.parquet, measured.parquet and refusals.json below `out`.

    Expected cells come from the controls, never from a glob.

    Raises:
        BadInput: a run or a grade is missing or does not fit its path.
    """
    controls = read_controls(controls_path)
    cells, measured, answers = table_rows(controls)
    responses = answers.summary(record)
    write_table(out / "cells.parquet", cells, CELLS, {CONTROLS_KEY: controls})
    metadata = {CONTROLS_KEY: controls, RESPONSES_KEY: responses}
    write_table(out / "measured.parquet", measured, MEASURED, metadata)
    refusals = refusals_of(controls, cells, measured)
    write_json(out / "refusals.json", {"refusals": [refusal.as_dict() for refusal in refusals]})


def table_rows(
    controls: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Answers]:
    """Return the rows of both tables in their order, and which responses the cells used.

    Raises:
        BadInput: a run or a grade is missing or does not fit its path.
    """
    cells: list[dict[str, Any]] = []
    measured: list[dict[str, Any]] = []
    answers = Answers()
    for names in keys.expected_cells(controls):
        run_key = keys.run_key(controls, *names)
        grade_key = keys.grade_key(controls, names[1], run_key)
        run = _leaf(layout.run(run_key) / "run.json", "run_key", run_key)
        grade = _leaf(layout.grade(grade_key) / "grade.json", "grade_key", grade_key)
        named = dict(zip(("agent", "task", "budget", "repeat"), names, strict=True))
        cells.append({**named, **_cell(controls, named, run_key, grade_key, run, grade)})
        measured.append({**named, **run["measured"], **grade["measured"], **_worse(run, grade)})
        answers.add(run)
    return sorted(cells, key=sort_key), sorted(measured, key=sort_key), answers


def _leaf(path: Path, key: str, value: str) -> dict[str, Any]:
    leaf = read_sealed(path, AGAIN)
    if leaf.get(key) != value:
        raise BadInput(f"{path}: {key} is {leaf.get(key)!r}; cure: {AGAIN}")
    if (problem := broken_seal(leaf, path.parent, path.name)) is not None:
        raise BadInput(f"{path}: {problem}; cure: {AGAIN}")
    return leaf


def _cell(
    controls: Mapping[str, Any],
    named: Mapping[str, Any],
    run_key: str,
    grade_key: str,
    run: Mapping[str, Any],
    grade: Mapping[str, Any],
) -> dict[str, Any]:
    task = controls["tasks"][named["task"]]
    caps = keys.effective_caps(controls, named["task"], named["budget"])
    agent = controls["agents"][named["agent"]]
    return {
        "control": agent["control"],
        **{column: grade[column] for column in GRADE_COLUMNS},
        **grade["meters"],
        **{f"cap_{meter}": value for meter, value in caps.items()},
        "weight": task["weight"],
        "split": task["split"],
        "network": task["network"],
        "unmetered": _unmetered(agent, caps, grade["meters"]),
        "grader_trust": task["grader_trust"],
        "isolation": controls["environment"]["isolation"],
        "run_key": run_key,
        "grade_key": grade_key,
        "task_digest": task["task_digest"],
        "grader_digest": task["grader_digest"],
    }


def _unmetered(
    agent: Mapping[str, Any], caps: Mapping[str, float], meters: Mapping[str, Any]
) -> bool:
    """Tokens are unknown although a model or a cap needs them. Control cells are exempt."""
    needed = "endpoint" in agent["sheet"] or "tokens" in caps
    return not agent["control"] and needed and meters["tokens"] is None


def _worse(run: Mapping[str, Any], grade: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weaker of the two isolations, and the run's machine."""
    from frozenbench.sandbox import LEVELS

    measured = [part["measured"]["isolation_measured"] for part in (run, grade)]
    return {
        "isolation_measured": min(measured, key=LEVELS.index),
        "machine_class": run["measured"]["machine_class"],
    }


class Answers:
    """Which model responses the cells used, and when the endpoint gave them."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.dates: set[str] = set()

    def add(self, run: Mapping[str, Any]) -> None:
        """Add one run's responses."""
        self.keys.update(run["responses"]["keys"])
        for name in ("first_date", "last_date"):
            if run["responses"][name] is not None:
                self.dates.add(run["responses"][name])

    def summary(self, record: Path) -> dict[str, Any]:
        """Return what page and figure say: how many, of what dates, from the committed record."""
        recorded = set(read_json(record)["keys"])
        return {
            "distinct": len(self.keys),
            "first_date": min(self.dates, default=None),
            "last_date": max(self.dates, default=None),
            "recorded": bool(self.keys) and self.keys <= recorded,
        }
