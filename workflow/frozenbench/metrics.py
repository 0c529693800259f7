"""The metrics of PROTOCOL 7: one summary row for each slice, agent and budget.

A pure function of the tables. The denominator of every rate is all cells, always; a value that is
missing is null, and how many are missing stands beside it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from frozenbench.canonical import BadInput, Refused
from frozenbench.outcomes import METERS, OUTCOMES
from frozenbench.stats.intervals import effective_n, wilson

#: The slices in the order of every table; numbers are per slice, never pooled.
SLICES = ("public", "held_out")

#: What names a cell in both tables.
CELL = ["agent", "budget", "task", "repeat"]

#: The columns of cells.parquet that the metrics read.
CELL_COLUMNS = [
    *CELL,
    *("control", "outcome", "reason", "cap_hit", "tool_calls", "edit_rounds", "tokens"),
    *("weight", "split", "network"),
]

#: The columns of measured.parquet that the metrics read.
MEASURED_COLUMNS = [*CELL, "seconds", "spend", "currency"]

#: Rate -> its outcome.
_RATES = {
    "pass_rate": "PASS",
    "fail_test_rate": "FAIL_TEST",
    "assume_rate": "FAIL_ASSUME",
    "exhaust_rate": "EXHAUSTED",
    "error_rate": "ERROR",
}


def eligible(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that take part in metrics: no control cells, no tasks with open network.

    Raises:
        Refused: a weight is missing.
        BadInput: a slice, an outcome or a network policy that PROTOCOL does not know.
    """
    kept = cells[~cells["control"].astype(bool)]
    # A log of another harness states no policy: null, and its tasks are in every rate.
    _require_known(kept[kept["network"].notna()], "network", ("blocked", "open"))
    kept = kept[kept["network"].isna() | (kept["network"] == "blocked")]
    _require_known(kept, "split", SLICES)
    _require_known(kept, "outcome", OUTCOMES)
    if kept["weight"].isna().any():
        task = kept.loc[kept["weight"].isna(), "task"].iloc[0]
        raise Refused(
            f"cells.parquet: weight: that of {task} is missing, so no score is printed; "
            "cure: give the task a weight in the pack and make the table again"
        )
    return kept


def _require_known(cells: pd.DataFrame, column: str, known: Sequence[str]) -> None:
    unknown = sorted({str(value) for value in cells[column].unique()} - set(known))
    if unknown:
        raise BadInput(
            f"cells.parquet: {column}: {unknown[0]!r} is none of {', '.join(known)}; "
            "cure: make the table again"
        )


def summarise(
    cells: pd.DataFrame,
    measured: pd.DataFrame,
    agents: Sequence[str],
    budgets: Sequence[str],
    axis_values: Mapping[str, float | None],
) -> list[dict[str, Any]]:
    """Return the rows of `summary`, without its four rank columns and three `*_without_exhausted`.

    Args:
        cells: columns as PROTOCOL 11; control cells and open-network tasks are left out here.
        measured: the same cells' measured values, joined by agent, budget, task, repeat.
        agents: names in the config's order; `budgets` in the view's: the order of the rows.
        axis_values: budget -> its cap on the axis, None where it has none.

    Rows come by slice (`public`, then `held_out`, those that have tasks), agent and budget. Rates
    are integers divided once. An agent and budget without cells get n = 0 and nulls.

    Raises:
        Refused: a weight is missing.
        BadInput: a cell is there twice, has no row in `measured`, or holds an unknown value.
    """
    joined = _join(eligible(cells), measured)
    untold = set(cells["agent"]) if _is_imported(cells) else set()
    groups = dict(iter(joined.groupby(["split", "agent", "budget"], sort=False)))
    present = set(joined["split"])
    nothing = joined.iloc[:0]
    return [
        {
            "slice": name,
            "agent": agent,
            "budget": budget,
            "axis_value": axis_values.get(budget),
            **measures(groups.get((name, agent, budget), nothing)),
            **({"assume_rate": None} if agent in untold else {}),
        }
        for name in SLICES
        if name in present
        for agent in agents
        for budget in budgets
    ]


def _is_imported(cells: pd.DataFrame) -> bool:
    """Tell whether the cells are cut from logs: these tell of no banned or invented name."""
    return "run_key" in cells and not cells.empty and bool(cells["run_key"].isna().all())


def _join(cells: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    for name, table in (("cells", cells), ("measured", measured)):
        if table.duplicated(CELL).any():
            row = table.loc[table.duplicated(CELL), CELL].iloc[0].tolist()
            raise BadInput(f"{name}.parquet: the cell {row} is there twice; cure: make it again")
    joined = cells[CELL_COLUMNS].merge(
        measured[MEASURED_COLUMNS], on=CELL, how="left", indicator="_found"
    )
    lost = joined["_found"] != "both"
    if lost.any():
        row = joined.loc[lost, CELL].iloc[0].tolist()
        raise BadInput(
            f"measured.parquet: the cell {row} of cells.parquet is missing; cure: make both again"
        )
    return joined.drop(columns="_found")


def measures(group: pd.DataFrame) -> dict[str, Any]:
    """Return every metric of one set of cells, as Python numbers and None.

    `pass_*` and `exhaust_*` are shares of cells, their intervals Wilson's at n = number of tasks;
    `weighted_*` are shares of weight, at `effective_n` = (Σ w)²/Σ w² over tasks. `weight_total` is
    Σ w over tasks. `spend` is the sum over the `spend_n` cells that report one, null where none does or
    where they report different currencies. Tokens, calls, rounds and seconds are of the cells that
    report them: under a budget of an import these are the runs that ended within it.
    """
    weight_of = dict(zip(group["task"].tolist(), _integers(group["weight"]), strict=True))
    row: dict[str, Any] = {
        "n": len(group),
        "n_tasks": len(weight_of),
        "repeats": int(group["repeat"].nunique()),
        "weight_total": sum(weight_of.values()),
    }
    return row | _rates(group, np.array(list(weight_of.values()), dtype=np.int64)) | _use(group)


def _rates(
    group: pd.DataFrame, task_weights: np.ndarray[Any, np.dtype[np.int64]]
) -> dict[str, Any]:
    outcome = group["outcome"].astype(str).to_numpy()
    weights = np.array(_integers(group["weight"]), dtype=np.int64)
    capped = group["cap_hit"].notna().to_numpy(dtype=bool)
    passed = outcome == "PASS"
    n, tasks = len(group), Fraction(len(task_weights))
    rates = {name: _share(int((outcome == kind).sum()), n) for name, kind in _RATES.items()}
    weighted = _share(int(weights[passed].sum()), int(weights.sum()))
    row: dict[str, Any] = {name: _number(rate) for name, rate in rates.items()}
    row["pass_low"], row["pass_high"] = _ends(rates["pass_rate"], tasks)
    row["exhaust_low"], row["exhaust_high"] = _ends(rates["exhaust_rate"], tasks)
    row["weighted_pass_rate"] = _number(weighted)
    size = effective_n(task_weights)
    row["effective_n"] = float(size) if size else None
    row["weighted_low"], row["weighted_high"] = _ends(weighted, size)
    row["pass_at_cap"] = int((passed & capped).sum())
    row["pass_rate_strict"] = _number(_share(int((passed & ~capped).sum()), n))
    reasons = group["reason"].astype(str).to_numpy()[outcome == "EXHAUSTED"]
    for meter in METERS:
        row[f"exhaust_rate_{meter}"] = _number(_share(int((reasons == meter).sum()), n))
    return row


def _use(group: pd.DataFrame) -> dict[str, Any]:
    calls, rounds = _integers(group["tool_calls"]), _integers(group["edit_rounds"])
    tokens = _integers(group["tokens"])
    seconds, spend = _floats(group["seconds"]), _floats(group["spend"])
    currencies = set(group.loc[group["spend"].notna(), "currency"].dropna().tolist())
    one_currency = bool(spend) and len(currencies) == 1
    return {
        "mean_tool_calls": _number(_share(sum(calls), len(calls))),
        "mean_tool_calls_n": len(calls),
        "mean_edit_rounds": _number(_share(sum(rounds), len(rounds))),
        "mean_edit_rounds_n": len(rounds),
        "median_seconds": float(statistics.median(seconds)) if seconds else None,
        "median_tokens": float(statistics.median(tokens)) if tokens else None,
        "total_tokens": sum(tokens) if tokens else None,
        "tokens_n": len(tokens),
        "tokens_missing": len(group) - len(tokens),
        "spend": math.fsum(spend) if one_currency else None,
        "spend_n": len(spend),
        "currency": currencies.pop() if one_currency else None,
    }


def _integers(column: pd.Series[Any]) -> list[int]:
    return [int(value) for value in column.dropna().tolist()]


def _floats(column: pd.Series[Any]) -> list[float]:
    return [float(value) for value in column.dropna().tolist()]


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _number(share: Fraction | None) -> float | None:
    return None if share is None else float(share)


def _ends(rate: Fraction | None, n: Fraction) -> tuple[float | None, float | None]:
    return wilson(rate, n) or (None, None)
