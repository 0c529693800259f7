"""The metrics: all cells in every denominator, nulls counted, nothing outside [0, 1]."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from frozenbench.canonical import BadInput, Refused
from frozenbench.metrics import measures, summarise
from frozenbench.outcomes import METERS, OUTCOMES
from hypothesis import given, settings
from hypothesis import strategies as st

PLAIN: dict[str, Any] = {
    "agent": "a",
    "budget": "calls-2",
    "task": "t0",
    "repeat": 0,
    "control": False,
    "outcome": "FAIL_TEST",
    "reason": "assertion",
    "cap_hit": None,
    "tool_calls": None,
    "edit_rounds": None,
    "tokens": None,
    "weight": 1,
    "split": "public",
    "network": "blocked",
    "seconds": None,
    "spend": None,
    "currency": None,
}
NULLABLE = {
    **dict.fromkeys(("repeat", "weight"), "Int32"),
    **dict.fromkeys(("tool_calls", "edit_rounds", "tokens"), "Int64"),
    **dict.fromkeys(("seconds", "spend"), "Float64"),
}
MEASURED = ["agent", "budget", "task", "repeat", "seconds", "spend", "currency"]


def frame(*cells: dict[str, Any]) -> pd.DataFrame:
    rows = [PLAIN | cell for cell in cells]
    return pd.DataFrame(
        {
            name: pd.array([row[name] for row in rows], dtype=NULLABLE.get(name, "object"))
            for name in PLAIN
        }
    )


def tasks(*cells: dict[str, Any]) -> pd.DataFrame:
    """One cell a task, in the order given."""
    return frame(*({"task": f"t{place}"} | cell for place, cell in enumerate(cells)))


def rows(
    cells: pd.DataFrame, agents: tuple[str, ...] = ("a",), budgets: tuple[str, ...] = ("calls-2",)
) -> list[dict[str, Any]]:
    axis = {"calls-2": 2.0, "free": None}
    return summarise(cells.drop(columns=MEASURED[4:]), cells[MEASURED], agents, budgets, axis)


def only(cells: pd.DataFrame) -> dict[str, Any]:
    [row] = rows(cells)
    return row


def test_errors_stay_in_the_denominator() -> None:
    row = only(
        tasks(
            *[{"outcome": "PASS"}] * 4, *[{"outcome": "ERROR"}] * 2, *[{"outcome": "FAIL_TEST"}] * 4
        )
    )
    assert (row["pass_rate"], row["error_rate"], row["n"]) == (0.4, 0.2, 10)
    assert row["weighted_pass_rate"] == 0.4


def test_weights_move_the_weighted_rate_alone() -> None:
    row = only(
        tasks({"outcome": "PASS", "weight": 1}, {"weight": 2}, {"outcome": "PASS", "weight": 5})
    )
    assert (row["pass_rate"], row["weighted_pass_rate"]) == (2 / 3, 0.75)
    assert (row["weight_total"], row["n_tasks"], row["repeats"]) == (8, 3, 1)


def test_the_weighted_interval_is_wilsons_at_the_effective_n() -> None:
    row = only(
        tasks({"outcome": "PASS", "weight": 1}, {"weight": 2}, {"outcome": "PASS", "weight": 5})
    )
    # n = 64/30, p = .75, z = 1.96: the ends solve (p - x)^2 = z^2 x (1 - x) / n
    for end in (row["weighted_low"], row["weighted_high"]):
        assert (0.75 - end) ** 2 == pytest.approx(
            1.959964**2 * end * (1 - end) / (64 / 30), rel=1e-5
        )


def test_repeats_are_cells_and_do_not_narrow_the_interval() -> None:
    once = only(tasks({"outcome": "PASS"}, {}))
    twice = only(
        frame(
            *(
                {"task": f"t{t}", "repeat": r, "outcome": "FAIL_TEST" if t else "PASS"}
                for t in (0, 1)
                for r in (0, 1)
            )
        )
    )
    assert (twice["n"], twice["n_tasks"], twice["repeats"], twice["weight_total"]) == (4, 2, 2, 2)
    assert (twice["pass_rate"], twice["pass_low"], twice["pass_high"]) == (
        once["pass_rate"],
        once["pass_low"],
        once["pass_high"],
    )


def test_edges_of_the_interval() -> None:
    none, whole = only(tasks(*[{}] * 5)), only(tasks(*[{"outcome": "PASS"}] * 5))
    assert (none["pass_low"], none["pass_high"]) == (0.0, pytest.approx(0.4345, abs=5e-5))
    assert (whole["pass_low"], whole["pass_high"]) == (pytest.approx(0.5655, abs=5e-5), 1.0)


def test_of_no_cells_every_rate_is_null_and_every_count_zero() -> None:
    row = measures(tasks({}).iloc[:0])
    counts = {
        "n",
        "n_tasks",
        "repeats",
        "weight_total",
        "pass_at_cap",
        "tokens_n",
        "tokens_missing",
    }
    counts |= {"mean_tool_calls_n", "mean_edit_rounds_n", "spend_n"}
    assert {name for name, value in row.items() if value is not None} == counts
    assert not any(row[name] for name in counts)


def test_passes_that_hit_a_cap_are_counted_and_taken_out_of_the_strict_rate() -> None:
    row = only(
        tasks(
            {"outcome": "PASS", "cap_hit": "tokens", "reason": "green_at_cap"},
            {"outcome": "PASS"},
            {"outcome": "EXHAUSTED", "cap_hit": "tokens", "reason": "tokens"},
            {"outcome": "EXHAUSTED", "cap_hit": "wall_clock", "reason": "wall_clock"},
        )
    )
    assert (row["pass_rate"], row["pass_rate_strict"], row["pass_at_cap"]) == (0.5, 0.25, 1)
    assert (row["exhaust_rate_tokens"], row["exhaust_rate_wall_clock"]) == (0.25, 0.25)
    assert (row["exhaust_rate_tool_calls"], row["exhaust_rate_edit_rounds"]) == (0.0, 0.0)


def test_missing_values_are_null_and_counted_and_zero_is_a_value() -> None:
    row = only(
        tasks(
            {"tool_calls": 0, "tokens": 2**53 + 1, "seconds": 3.0, "edit_rounds": 3},
            {"tool_calls": 3, "tokens": 2**53 + 2, "seconds": 1.0},
            {"seconds": 2.0},
        )
    )
    assert (row["mean_tool_calls"], row["mean_tool_calls_n"]) == (1.5, 2)
    assert (row["mean_edit_rounds"], row["mean_edit_rounds_n"]) == (3.0, 1)
    assert (row["total_tokens"], row["tokens_n"], row["tokens_missing"]) == (2**54 + 3, 2, 1)
    assert row["median_seconds"] == 2.0
    row = only(tasks({}, {}))
    assert (row["total_tokens"], row["median_tokens"], row["tokens_missing"]) == (None, None, 2)
    assert (row["mean_tool_calls"], row["median_seconds"], row["spend"]) == (None, None, None)


def test_spend_is_a_sum_in_one_currency_or_null() -> None:
    paid = {"spend": 0.1, "currency": "EUR"}
    row = only(tasks(paid, paid, paid, {}))
    assert (row["spend"], row["currency"], row["spend_n"]) == (
        pytest.approx(0.3, abs=1e-16),
        "EUR",
        3,
    )
    row = only(tasks(paid, {"spend": 1.0, "currency": "USD"}))
    assert (row["spend"], row["currency"], row["spend_n"]) == (None, None, 2)


def test_control_cells_and_open_network_tasks_take_no_part() -> None:
    cells = tasks({"outcome": "PASS"}, {}, {"outcome": "PASS", "network": "open"})
    control = frame(
        {"agent": "noop", "control": True, "outcome": "EXHAUSTED", "reason": "tool_calls"}
    )
    [row] = rows(pd.concat([cells, control], ignore_index=True))
    assert (row["agent"], row["n"], row["pass_rate"]) == ("a", 2, 0.5)


def test_slices_are_never_pooled_and_rows_keep_the_order_asked_for() -> None:
    cells = frame(
        *(
            {"agent": agent, "budget": budget, "task": task, "split": split, "outcome": outcome}
            for agent in ("a", "z")
            for budget in ("calls-2", "free")
            for task, split, outcome in (("p", "public", "PASS"), ("h", "held_out", "FAIL_TEST"))
        )
    )
    found = rows(cells, ("z", "a"), ("calls-2", "free"))
    assert [
        (r["slice"], r["agent"], r["budget"], r["axis_value"], r["pass_rate"]) for r in found
    ] == [
        (name, agent, budget, axis, rate)
        for name, rate in (("public", 1.0), ("held_out", 0.0))
        for agent in ("z", "a")
        for budget, axis in (("calls-2", 2.0), ("free", None))
    ]


def test_what_is_not_of_the_protocol_is_named() -> None:
    with pytest.raises(BadInput, match="outcome: 'TIMEOUT'"):
        rows(tasks({"outcome": "TIMEOUT"}))
    with pytest.raises(BadInput, match="split: 'private'"):
        rows(tasks({"split": "private"}))
    with pytest.raises(Refused, match="weight: that of t1"):
        rows(tasks({}, {"weight": None}))
    with pytest.raises(BadInput, match=r"cells\.parquet: the cell .* is there twice"):
        rows(frame({}, {}))
    cells = tasks({}, {})
    with pytest.raises(BadInput, match=r"measured\.parquet: the cell .*t1"):
        summarise(
            cells.drop(columns=MEASURED[4:]), cells[MEASURED].iloc[:1], ["a"], ["calls-2"], {}
        )


cells_of = st.lists(
    st.fixed_dictionaries(
        {
            "outcome": st.sampled_from(OUTCOMES),
            "reason": st.sampled_from(METERS),
            "cap_hit": st.sampled_from([None, *METERS]),
            "edit_rounds": st.none() | st.integers(0, 5),
            "tokens": st.none() | st.integers(0, 10**6),
            "weight": st.integers(1, 9),
            "seconds": st.none() | st.floats(0, 1e4),
        }
    ),
    min_size=1,
    max_size=12,
)


@given(cells_of, st.randoms())
@settings(deadline=None, max_examples=60)
def test_rates_are_rates_that_add_up_whatever_the_order_of_the_cells(
    drawn: list[dict[str, Any]], random: Any
) -> None:
    cells = tasks(*drawn)
    row = only(cells)
    shares = {
        name: value
        for name, value in row.items()
        if "rate" in name or name.endswith(("_low", "_high"))
    }
    assert all(0 <= value <= 1 for value in shares.values())
    five = ("pass_rate", "fail_test_rate", "assume_rate", "exhaust_rate", "error_rate")
    assert sum(row[name] for name in five) == pytest.approx(1, abs=1e-12)
    assert sum(row[f"exhaust_rate_{meter}"] for meter in METERS) == pytest.approx(
        row["exhaust_rate"]
    )
    assert row["pass_rate_strict"] * row["n"] == pytest.approx(
        row["pass_rate"] * row["n"] - row["pass_at_cap"]
    )
    json.dumps(row, allow_nan=False)
    order = list(range(len(cells)))
    random.shuffle(order)
    assert only(cells.iloc[order].reset_index(drop=True)) == row
