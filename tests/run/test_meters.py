"""Meters: what a cap is hit by, and that unknown use is unknown and never 0."""

from __future__ import annotations

import itertools

import pytest
from frozenbench.adapters.contract import Use
from frozenbench.outcomes import METERS
from frozenbench.run import meters as metering
from frozenbench.run.meters import Meters
from hypothesis import given
from hypothesis import strategies as st

ALL = frozenset(METERS)
MODEL = metering.start(ALL, model=True)
COUNTS = st.none() | st.integers(0, 50)
CAPS = st.fixed_dictionaries(
    {"wall_clock": st.floats(0.01, 50)},
    optional={name: st.integers(1, 50) for name in ("tool_calls", "edit_rounds", "tokens")},
)


def test_meters_start_at_0_for_what_can_be_counted_and_unknown_for_the_rest() -> None:
    assert metering.start(ALL, model=True).as_dict() == dict.fromkeys(Meters().as_dict(), 0)
    command = metering.start(frozenset({"wall_clock"}), model=False)
    unknown = {name for name, value in command.as_dict().items() if value is None}
    assert unknown == {
        "tool_calls",
        "model_calls",
        "tokens",
        "tokens_input",
        "tokens_output",
        "tokens_cached",
        "tokens_undelivered",
    }
    assert command.edit_rounds == 0


@given(CAPS, st.integers(0, 60), st.integers(0, 60), st.floats(0, 60))
def test_asking_hits_exactly_the_caps_that_one_more_would_pass(
    caps: dict[str, float], calls: int, tokens: int, elapsed: float
) -> None:
    hits = metering.before_request(Meters(tool_calls=calls, tokens=tokens), caps, elapsed)
    right = [
        name
        for name, hit in (
            ("tool_calls", calls + 1 > caps.get("tool_calls", 1e9)),
            ("tokens", tokens + 1 > caps.get("tokens", 1e9)),  # no tokens left
            ("wall_clock", elapsed > caps["wall_clock"]),
        )
        if hit
    ]
    assert hits == tuple(right)


@given(CAPS, st.integers(0, 60), COUNTS, st.floats(0, 60))
def test_a_response_fits_or_is_withheld_whole(
    caps: dict[str, float], used: int, total: int | None, elapsed: float
) -> None:
    hits = metering.on_response(Meters(tokens=used), Use(total=total), caps, elapsed)
    over = total is not None and used + total > caps.get("tokens", 1e9)
    late = elapsed > caps["wall_clock"]
    assert hits == ("tokens",) * over + ("wall_clock",) * late


def test_the_clock_falls_beyond_its_cap_and_not_at_it() -> None:
    assert metering.clock_hits({"wall_clock": 2}, 2.0) == ()
    assert metering.clock_hits({"wall_clock": 2}, 2.0000001) == ("wall_clock",)
    assert metering.clock_hits({}, 1e9) == ()


def test_a_change_hits_its_cap_beyond_the_last_edit_round() -> None:
    caps = {"edit_rounds": 2, "wall_clock": 9}
    hits = [metering.on_change(Meters(edit_rounds=rounds), caps) for rounds in range(4)]
    assert hits == [(), (), ("edit_rounds",), ("edit_rounds",)]


@pytest.mark.parametrize("size", range(5))
def test_two_caps_at_one_event_stand_in_the_protocol_s_order(size: int) -> None:
    order = ["tool_calls", "edit_rounds", "tokens", "wall_clock"]
    for hits in itertools.combinations(order, size):
        assert metering.ordered(set(hits)) == hits
    assert metering.ordered(set(order)) == tuple(order) == METERS


@given(st.lists(st.builds(Use, COUNTS, COUNTS, COUNTS, COUNTS), max_size=8))
def test_one_unknown_use_makes_its_sum_unknown_for_good(uses: list[Use]) -> None:
    """C18: absent is null, never 0, and never left out of a sum."""
    meters = MODEL
    for use in uses:
        meters = metering.delivered(meters, use)
    for field, name in (
        ("tokens", "total"),
        ("tokens_input", "input"),
        ("tokens_output", "output"),
        ("tokens_cached", "cached"),
    ):
        counts = [getattr(use, name) for use in uses]
        assert getattr(meters, field) == (None if None in counts else sum(counts))
    assert meters.tool_calls == meters.model_calls == len(uses)
    assert meters.tokens_undelivered == 0


@given(st.lists(COUNTS, max_size=8))
def test_withheld_use_is_counted_apart(totals: list[int | None]) -> None:
    meters = MODEL
    for total in totals:
        meters = metering.withheld(meters, Use(total=total))
    assert meters.tokens_undelivered == (None if None in totals else sum(filter(None, totals)))
    assert (meters.tokens, meters.tool_calls, meters.model_calls) == (0, 0, 0)


def test_an_agent_without_a_model_has_no_model_calls() -> None:
    meters = metering.delivered(metering.start(ALL, model=False), Use(total=3))
    assert (meters.tool_calls, meters.model_calls, meters.tokens) == (1, None, 3)


def test_unknown_tokens_hit_no_cap() -> None:
    caps = {"tokens": 1, "wall_clock": 9}
    assert metering.before_request(Meters(tokens=None), caps, 0) == ()
    assert metering.on_response(Meters(tokens=None), Use(total=99), caps, 0) == ()
    assert metering.on_response(Meters(tokens=0), Use(total=None), caps, 0) == ()
