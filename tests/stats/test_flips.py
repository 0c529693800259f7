"""Ladders, crossings and confirmed flips against brute force over the definitions."""

from __future__ import annotations

from itertools import combinations

import pytest
from frozenbench.stats.flips import confirmed, crossings, ladders, marks
from hypothesis import given
from hypothesis import strategies as st

Step = tuple[int, int]
signs_of = st.lists(st.sampled_from([-1, 0, 1]), max_size=12)
contrasts_of = st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.booleans()), max_size=12).map(
    lambda pairs: ([s for s, _ in pairs], [bool(s) and r for s, r in pairs])
)


def crossings_by_definition(signs: list[int]) -> list[Step]:
    return [
        (b, c)
        for b, c in combinations(range(len(signs)), 2)
        if signs[b] * signs[c] < 0 and not any(signs[b + 1 : c])
    ]


def confirmed_by_definition(signs: list[int], rejected: list[bool]) -> list[Step]:
    pairs = [
        (b, c)
        for b, c in combinations(range(len(signs)), 2)
        if rejected[b] and rejected[c] and signs[b] * signs[c] < 0
    ]
    return [
        (b, c) for b, c in pairs if not any(p != (b, c) and b <= p[0] and p[1] <= c for p in pairs)
    ]


@given(signs_of)
def test_crossings_are_those_of_the_definition(signs: list[int]) -> None:
    assert crossings(signs) == crossings_by_definition(signs)


@given(contrasts_of)
def test_confirmed_flips_are_those_of_the_definition(drawn: tuple[list[int], list[bool]]) -> None:
    assert confirmed(*drawn) == confirmed_by_definition(*drawn)


@given(contrasts_of)
def test_each_confirmed_flip_is_marked_once_at_the_last_crossing_inside(
    drawn: tuple[list[int], list[bool]],
) -> None:
    found = marks(*drawn)
    assert [step for step, _ in found] == crossings_by_definition(drawn[0])
    for b, c in confirmed_by_definition(*drawn):
        inside = [step for step, _ in found if b <= step[0] and step[1] <= c]
        assert [step for step, pair in found if pair == (b, c)] == [inside[-1]]
    assert sum(pair is not None for _, pair in found) == len(confirmed_by_definition(*drawn))


@pytest.mark.parametrize(
    ("signs", "rejected", "expected"),
    [
        ([1, -1], [True, True], [((0, 1), (0, 1))]),
        ([1, -1], [True, False], [((0, 1), None)]),
        ([1, 0, 0, -1], [True, False, False, True], [((0, 3), (0, 3))]),
        # resolved at both ends, three crossings between them: the last one carries the mark
        (
            [1, -1, 1, -1],
            [True, False, False, True],
            [((0, 1), None), ((1, 2), None), ((2, 3), (0, 3))],
        ),
        # the narrower pair (1, 2) rules out (0, 2); nothing is confirmed on the way back
        ([1, 1, -1, 1], [True, True, True, False], [((1, 2), (1, 2)), ((2, 3), None)]),
        # two flips, there and back
        ([1, -1, 1], [True, True, True], [((0, 1), (0, 1)), ((1, 2), (1, 2))]),
    ],
)
def test_known_ladders(
    signs: list[int], rejected: list[bool], expected: list[tuple[Step, Step | None]]
) -> None:
    assert marks(signs, rejected) == expected


def test_a_ladder_is_what_differs_in_the_axis_cap_alone_and_an_absent_cap_is_the_largest() -> None:
    found = ladders(
        {
            "free": {"max_seconds": 60},
            "ten": {"max_tool_calls": 10, "max_seconds": 60.0},
            "slow": {"max_tool_calls": 2, "max_seconds": 240},
            "two": {"max_tool_calls": 2, "max_seconds": 60, "max_tokens": None},
            "tight": {"max_tool_calls": 4, "max_seconds": 240, "max_tokens": 900},
        },
        "max_tool_calls",
    )
    assert [(ladder.name, ladder.budgets) for ladder in found] == [
        ("max_seconds=60", ("two", "ten", "free")),
        ("max_seconds=240", ("slow",)),
        ("max_seconds=240, max_tokens=900", ("tight",)),
    ]


def test_a_ladder_in_seconds_can_have_no_other_cap() -> None:
    found = ladders({"b": {"max_seconds": 2.5}, "a": {"max_seconds": 0.5}}, "max_seconds")
    assert [(ladder.name, ladder.budgets) for ladder in found] == [("no other cap", ("a", "b"))]
