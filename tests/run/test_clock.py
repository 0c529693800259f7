"""The agent's clock: from its start, less pauses, plus what a served response took."""

from __future__ import annotations

import time

import pytest
from frozenbench.run.clock import AgentClock
from hypothesis import given
from hypothesis import strategies as st

EVENTS = st.lists(
    st.tuples(st.sampled_from(("work", "pause", "credit")), st.integers(0, 1000)), max_size=12
)


class Hand:
    """A clock's hand that a test turns."""

    def __init__(self) -> None:
        self.at = 5000.0

    def __call__(self) -> float:
        return self.at


@given(EVENTS)
def test_the_clock_shows_work_and_credits_and_no_pause(events: list[tuple[str, int]]) -> None:
    hand = Hand()
    clock = AgentClock(hand)
    hand.at += 77  # start-up is off the clock
    assert clock.elapsed() == 0
    clock.start()
    right = 0
    for kind, seconds in events:
        if kind == "credit":
            clock.credit(seconds)
        elif kind == "pause":
            with clock.paused():
                hand.at += seconds
        else:
            hand.at += seconds
            clock.start()  # a later start changes nothing
        right += 0 if kind == "pause" else seconds
        assert clock.elapsed() == right


def test_a_pause_ends_also_where_the_block_fails() -> None:
    hand = Hand()
    clock = AgentClock(hand)
    clock.start()

    def fail() -> None:
        with clock.paused():
            hand.at += 9
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    hand.at += 1
    assert clock.elapsed() == 1


def test_a_virtual_clock_never_ticks() -> None:
    hand = Hand()
    clock = AgentClock(hand, virtual=True)
    clock.start()
    hand.at += 1e6
    clock.credit(50)
    assert clock.elapsed() == 0


def test_the_real_clock_is_monotonic() -> None:
    clock = AgentClock()
    clock.start()
    time.sleep(0.01)
    with clock.paused():
        time.sleep(0.05)
    assert 0.01 <= clock.elapsed() < 0.05
