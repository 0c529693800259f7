from __future__ import annotations

from itertools import combinations

import pytest
from frozenbench.figures.apart import Spot, set_apart
from hypothesis import given
from hypothesis import strategies as st

spots = st.builds(
    lambda series, x, y, half: Spot(series, x, y, y - half, y + half),
    st.sampled_from("abcd"),
    st.integers(0, 50).map(lambda tenths: tenths / 10),
    st.integers(0, 25).map(lambda tenths: tenths / 10),
    st.sampled_from([0.0, 0.2, 0.6]),
)


@given(st.lists(spots, max_size=12))
def test_marks_of_different_series_stand_clear_or_it_is_told(held: list[Spot]) -> None:
    found, clear = set_apart(held, -1.0, 6.0)
    moved = [abs(x - spot.x) for x, spot in zip(found, held, strict=True)]
    assert max(moved, default=0.0) <= 0.25 + 1e-9
    for (one, x), (other, z) in combinations(zip(held, found, strict=True), 2):
        if one.series == other.series:
            continue
        if clear:
            assert abs(x - z) >= one.needs(other) - 0.0061
        if one.needs(other) and one.x != other.x and clear:
            assert (one.x < other.x) == (x < z)


@given(st.lists(spots, max_size=6))
def test_what_is_clear_stays(held: list[Spot]) -> None:
    apart = [
        Spot(str(place), 2.0 * place, spot.y, spot.top, spot.bottom)
        for place, spot in enumerate(held)
    ]
    found, clear = set_apart(apart, 0.0, 20.0)
    assert clear
    assert found == [spot.x for spot in apart]


def test_equal_ones_move_alike_and_keep_their_order() -> None:
    held = [Spot(name, 1.0, 1.0, 0.8, 1.2) for name in "abc"]
    found, clear = set_apart(held, 0.0, 2.0)
    assert clear
    assert found == sorted(found)
    assert sum(found) / 3 == pytest.approx(1.0, abs=0.005)


def test_no_room_is_told() -> None:
    held = [Spot(name, 1.0, 1.0, 0.8, 1.2) for name in "abcdef"]
    found, clear = set_apart(held, 0.9, 1.1)
    assert not clear
    assert all(0.9 <= x <= 1.1 for x in found)
