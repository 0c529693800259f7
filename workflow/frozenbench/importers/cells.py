"""The tables of an import: cells of the same columns, null where a log cannot tell, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from frozenbench.importers import budgets
from frozenbench.importers.caps import Cap, plain
from frozenbench.importers.model import AXES, Axis, Row
from frozenbench.importers.study import AS_RUN, Study

#: The pass counts at fine caps: descriptive, no test is made on them.
COUNTS = pa.schema(
    [
        ("axis", pa.string()),
        ("cap", pa.string()),
        ("agent", pa.string()),
        ("passed", pa.int64()),
        ("n", pa.int64()),
        ("beyond_limit", pa.bool_()),
    ]
)

#: Published rates without a row for each task: they can be read, and compared with nothing.
RATES = pa.schema(
    [
        ("agent", pa.string()),
        ("axis", pa.string()),
        ("cap", pa.int64()),
        ("passed", pa.int64()),
        ("n", pa.int64()),
        ("published_rate", pa.string()),
    ]
)

#: Cap field of a budget -> column of the cells table.
_CAP_COLUMNS = {
    "max_tool_calls": "cap_tool_calls",
    "max_edit_rounds": "cap_edit_rounds",
    "max_tokens": "cap_tokens",
    "max_seconds": "cap_wall_clock",
}
#: Up to this many caps, every whole number or cent has a row; above it, every break point.
_MOST_CAPS = 5000
_CENT = Decimal("0.01")


def budget_caps(study: Study, caps: Sequence[Cap]) -> dict[str, dict[str, float]]:
    """Return budget name -> its caps, as the controls hold them; one without caps: as it was run."""
    if study.axis is None:
        return {AS_RUN: {}}
    axis = study.axis
    return {
        budgets.name_of(axis, cap): {axis.cap: int(cap) if axis.whole else float(cap)}
        for cap in caps
    }


def cell_rows(study: Study, caps: Sequence[Cap]) -> Iterator[dict[str, Any]]:
    """Yield the cells of every run under every cap, unsorted within an agent."""
    for row in study.rows:
        if study.axis is None:
            yield _cell(row, AS_RUN, None, None)
        for cap in caps if study.axis is not None else ():
            yield _cell(row, budgets.name_of(study.axis, cap), study.axis, cap)  # type: ignore[arg-type]


def _cell(row: Row, budget: str, axis: Axis | None, cap: Cap | None) -> dict[str, Any]:
    found = budgets.cut(row, axis or AXES["calls"], cap if axis is not None else None)
    column = None if axis is None else _CAP_COLUMNS.get(axis.cap)
    return {
        "agent": row.agent,
        "task": row.task,
        "budget": budget,
        "repeat": row.repeat or 0,
        "control": False,
        "outcome": found.outcome,
        "reason": found.reason,
        "cap_hit": found.cap_hit,
        "weight": 1,
        "split": "public",
        **({} if column is None else {column: cap if axis and axis.whole else float(cap or 0)}),
        **(_use(row) if _whole(row, axis, cap) else {}),
    }


def _whole(row: Row, axis: Axis | None, cap: Cap | None) -> bool:
    """Tell whether the run stands as it was: what it used up to a cut is told by no log."""
    used = None if axis is None else row.use.on(axis.name)
    return axis is None or cap is None or (used is not None and used <= cap)


def _use(row: Row) -> dict[str, Any]:
    use = row.use
    return {
        "tool_calls": use.steps,
        "edit_rounds": use.edit_rounds,
        "model_calls": use.calls,
        "tokens": use.tokens,
        "tokens_input": use.tokens_input,
        "tokens_output": use.tokens_output,
        "tokens_cached": use.tokens_cached,
    }


def measured_rows(study: Study, caps: Sequence[Cap]) -> Iterator[dict[str, Any]]:
    """Yield the measured values of the same cells; those of runs that are cut are null."""
    for row in study.rows:
        for cap in caps if study.axis is not None else (None,):
            budget = (
                AS_RUN if study.axis is None or cap is None else budgets.name_of(study.axis, cap)
            )
            told = row.use if _whole(row, study.axis, cap) else None
            cost = None if told is None or told.cost is None else float(told.cost)
            yield {
                "agent": row.agent,
                "task": row.task,
                "budget": budget,
                "repeat": row.repeat or 0,
                "seconds": None if told is None or told.seconds is None else float(told.seconds),
                "spend": cost,
                "currency": None if cost is None else "USD",
            }


def count_rows(
    study: Study, limits: Mapping[str, Mapping[str, Decimal]]
) -> Iterator[dict[str, Any]]:
    """Yield the pass counts at fine caps, from 0, on every axis that all runs tell.

    Each agent's n are its own rows: where a comparison is refused, agents have different ones. Up to
    the own limit every whole number or cent, beyond it what runs used in overshoot.
    """
    n = Counter(row.agent for row in study.rows)
    for axis in AXES.values():
        if not has(study, axis):
            continue
        limit = own_limit(study, axis, limits)
        caps = fine_caps(study.rows, axis, limit)
        for agent, counts in budgets.pass_counts(study.rows, axis, caps).items():
            for cap, passed in zip(caps, counts, strict=True):
                yield {
                    "axis": axis.name,
                    "cap": plain(cap),
                    "agent": agent,
                    "passed": passed,
                    "n": n[agent],
                    "beyond_limit": limit is not None and cap > limit,
                }


def has(study: Study, axis: Axis) -> bool:
    """Tell whether an axis is to be had: every run that needs it tells its use."""
    counts = budgets.told(study.rows, axis).values()
    some = any(row.use.on(axis.name) is not None for row in study.rows)
    return some and not any(missing for missing, _ in counts)


def own_limit(
    study: Study, axis: Axis, limits: Mapping[str, Mapping[str, Decimal]]
) -> Decimal | None:
    """Return the smallest own limit of the compared agents on an axis."""
    if axis == study.axis:
        return study.limit
    held = [limits.get(agent, {}).get(axis.name) for agent in study.agents]
    return min((limit for limit in held if limit is not None), default=None)


def fine_caps(rows: Sequence[Row], axis: Axis, limit: Decimal | None) -> tuple[Cap, ...]:
    """Return the caps of the descriptive counts, from 0."""
    points = budgets.break_points(rows, axis)
    end = points[-1] if limit is None else limit
    step = Decimal(1) if axis.whole else _CENT
    if axis.name == "seconds" or end / step > _MOST_CAPS:
        return points
    every: list[Cap] = [
        number if axis.whole else number * step for number in range(int(end / step) + 1)
    ]
    return (*every, *(point for point in points if point > every[-1]))
