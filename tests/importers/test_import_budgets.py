"""Caps laid on finished runs: PROTOCOL 10, in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from frozenbench.canonical import BadInput
from frozenbench.import_controls import Source
from frozenbench.importers.budgets import (
    break_points,
    crossings,
    cut,
    first_axis,
    name_of,
    pass_counts,
    powers_of_two,
)
from frozenbench.importers.caps import parse_caps
from frozenbench.importers.model import AXES, CAP_CONTROLS, CONTROLS, Row, Use
from frozenbench.outcomes import OUTCOMES
from hypothesis import given
from hypothesis import strategies as st

CALLS, COST = AXES["calls"], AXES["cost"]

cents = st.integers(0, 400).map(lambda number: Decimal(number) / 100)


@st.composite
def runs(draw: st.DrawFn) -> list[Row]:
    """Runs of three agents, some of them broken, ungraded or ended by their own limit."""
    found = []
    for number in range(draw(st.integers(1, 30))):
        use = Use(calls=draw(st.integers(0, 20)), cost=draw(cents))
        found.append(
            Row(
                draw(st.sampled_from("abc")),
                f"t{number}",
                draw(st.sampled_from([True, True, False, None])),
                use,
                ran_out=draw(st.sampled_from([None, "calls", "context", "unknown"])),
                error=draw(st.sampled_from([None, None, None, "harness_broken"])),
            )
        )
    return found


@given(runs(), st.lists(st.integers(0, 25), min_size=1, max_size=6).map(sorted))
def test_counts_rise_with_the_cap_and_are_those_of_the_outcomes(
    rows: list[Row], caps: list[int]
) -> None:
    counts = pass_counts(rows, CALLS, caps)
    for agent, held in counts.items():
        assert all(low <= high for low, high in pairwise(held))
        own = [row for row in rows if row.agent == agent]
        for cap, count in zip(caps, held, strict=True):
            assert count == sum(cut(row, CALLS, cap).outcome == "PASS" for row in own)


@given(runs(), st.integers(0, 25))
def test_the_denominator_is_all_runs_and_ERROR_comes_first(rows: list[Row], cap: int) -> None:
    found = [cut(row, CALLS, cap) for row in rows]
    assert len(found) == len(rows)
    for row, outcome in zip(rows, found, strict=True):
        assert outcome.outcome in OUTCOMES
        assert outcome.outcome != "FAIL_ASSUME", "a log cannot tell"
        assert (outcome.outcome == "ERROR") == (row.error is not None or row.solved is None)


@given(runs())
def test_above_every_use_a_run_stands_as_its_log_says(rows: list[Row]) -> None:
    for row in rows:
        assert cut(row, CALLS, 20) == cut(row, CALLS, None)
        assert (cut(row, CALLS, 20).outcome == "PASS") == (row.solved is True and row.error is None)


@given(runs())
def test_a_count_changes_exactly_at_the_break_points(rows: list[Row]) -> None:
    points = break_points(rows, COST)
    assert points[0] == 0
    every = [Decimal(number) / 1000 for number in range(4001)]
    for held in pass_counts(rows, COST, every).values():
        changes = {
            cap for (_, low), (cap, high) in pairwise(zip(every, held, strict=True)) if low != high
        }
        assert changes <= set(points)


@given(cents.filter(lambda cost: cost > 0))
def test_at_the_boundary_a_decimal_cost_is_exact(cost: Decimal) -> None:
    row = Row("a", "t", True, Use(cost=cost))
    assert cut(row, COST, cost).outcome == "PASS"
    assert cut(row, COST, cost - Decimal("1e-18")).outcome == "EXHAUSTED"


def test_a_sum_that_floats_get_wrong() -> None:
    row = Row("a", "t", True, Use(cost=Decimal("0.30000000000000004")))
    assert cut(row, COST, Decimal("0.3")).outcome == "EXHAUSTED", "as the log states it"
    assert pass_counts([row], COST, [Decimal("0.3"), Decimal("0.31")]) == {"a": (0, 1)}


@pytest.mark.parametrize(
    ("row", "cap", "expected"),
    [
        (Row("a", "t", True, Use(calls=8)), 8, ("PASS", "finished", None)),
        (Row("a", "t", True, Use(calls=9)), 8, ("EXHAUSTED", "tool_calls", "tool_calls")),
        (Row("a", "t", False, Use(calls=9)), 8, ("EXHAUSTED", "tool_calls", "tool_calls")),
        (Row("a", "t", False, Use(calls=8)), 8, ("FAIL_TEST", "not_told", None)),
        (Row("a", "t", False, Use(calls=3), ran_out="cost"), 8, ("EXHAUSTED", "spend", "spend")),
        (
            Row("a", "t", False, Use(calls=3), ran_out="context"),
            8,
            ("EXHAUSTED", "context", "context"),
        ),
        (
            Row("a", "t", True, Use(calls=3), ran_out="seconds"),
            8,
            ("PASS", "green_at_cap", "wall_clock"),
        ),
        (Row("a", "t", True, Use(calls=3), error="x"), 8, ("ERROR", "x", None)),
        (Row("a", "t", None, Use()), 8, ("ERROR", "no_grade", None)),
        (Row("a", "t", True, Use(calls=0)), 0, ("PASS", "finished", None)),
    ],
)
def test_the_rule(row: Row, cap: int, expected: tuple[str, str, str | None]) -> None:
    found = cut(row, CALLS, cap)
    assert (found.outcome, found.reason, found.cap_hit) == expected


def test_an_axis_that_is_not_told_is_not_to_be_had() -> None:
    rows = [Row("a", "t1", True, Use(calls=1, tokens=5)), Row("a", "t2", False, Use(tokens=6))]
    with pytest.raises(ValueError, match="calls is not told"):
        cut(rows[1], CALLS, 3)
    assert first_axis(rows) == AXES["tokens"]
    assert first_axis([Row("a", "t", True)]) is None
    # A run that is ERROR in any case needs no use.
    assert first_axis([*rows[:1], Row("a", "t2", None, error="x")]) == CALLS


@pytest.mark.parametrize(
    ("uses", "limit", "expected"),
    [
        ([3, 9], Decimal(250), (0, 1, 2, 4, 8, 16, 32, 64, 128, 250)),
        ([3, 9], None, (0, 1, 2, 4, 8, 16)),
        ([8], None, (0, 1, 2, 4, 8)),
        ([8], Decimal(8), (0, 1, 2, 4, 8)),
    ],
)
def test_powers_of_two_end_at_the_own_limit(
    uses: list[int], limit: Decimal | None, expected: tuple[int, ...]
) -> None:
    rows = [Row("a", f"t{n}", True, Use(calls=use)) for n, use in enumerate(uses)]
    assert powers_of_two(rows, CALLS, limit) == expected


@pytest.mark.parametrize(
    ("use", "limit", "expected"),
    [
        ("1.7", Decimal("0.3"), "0 0.01 0.02 0.04 0.08 0.16 0.3"),
        ("0.09", None, "0 0.01 0.02 0.04 0.08 0.16"),
        ("0.003", None, "0 0.0001 0.0002 0.0004 0.0008 0.0016 0.0032"),
    ],
)
def test_powers_of_two_of_money_count_cents(use: str, limit: Decimal | None, expected: str) -> None:
    rows = [Row("a", "t", True, Use(cost=Decimal(use)))]
    assert powers_of_two(rows, COST, limit) == tuple(map(Decimal, expected.split()))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_a_crossing_is_a_change_of_sign_with_ties_between(pairs: list[tuple[int, int]]) -> None:
    counts = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}
    found = list(crossings(counts, list(range(len(pairs)))))
    signs = [(a > b) - (a < b) for a, b in pairs]
    apart = [sign for sign in signs if sign]
    assert len(found) == sum(one != other for one, other in pairwise(apart))
    for crossing in found:
        between = signs[crossing.before + 1 : crossing.after]  # type: ignore[misc, operator]
        assert set(between) <= {0}
        assert crossing.ahead * crossing.behind < 0


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "nan"])
def test_a_cap_that_is_none_is_named(text: str) -> None:
    with pytest.raises(BadInput, match="is no cap on calls"):
        parse_caps([text], CALLS, "here")


def test_caps_are_sorted_and_named_plainly() -> None:
    caps = parse_caps(["3.00", "0.5"], COST, "here")
    assert [name_of(COST, cap) for cap in caps] == ["cost-0.5", "cost-3"]
    with pytest.raises(BadInput, match="twice"):
        parse_caps(["1", "1.0"], COST, "here")


def test_the_words_agree() -> None:
    axes = Source.__dataclass_fields__["axis"].metadata["schema"]["enum"]
    assert [name for name in axes if name] == list(AXES)
    assert set(CAP_CONTROLS.values()) <= set(CONTROLS)
