"""The area under a curve over log budget: against scipy's trapezoids, and what it must keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from frozenbench.stats.areas import area, area_weights
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

caps_of = st.lists(st.integers(1, 10_000), min_size=2, max_size=9, unique=True).map(sorted)


@given(caps_of, st.data())
def test_equals_scipys_trapezoids_over_the_logarithm(caps: list[int], data: st.DataObject) -> None:
    totals = data.draw(st.lists(st.integers(0, 60), min_size=len(caps), max_size=len(caps)))
    shares = area_weights([float(cap) for cap in caps])
    assert shares is not None
    value, low, high = area(totals, 60, shares, np.ones(60, dtype=np.int64))
    logs = np.log(caps)
    expected = trapezoid(np.array(totals) / 60, logs) / (logs[-1] - logs[0])
    assert value == pytest.approx(expected, abs=1e-11)
    assert 0 <= low <= value <= high <= 1


def test_budgets_that_double_count_alike_and_the_ends_half() -> None:
    assert area_weights([1.0, 2.0, 4.0, 8.0]) == pytest.approx([1 / 6, 1 / 3, 1 / 3, 1 / 6])


@given(caps_of)
def test_the_shares_of_a_ladder_add_up_to_one(caps: list[int]) -> None:
    assert math.fsum(area_weights([float(cap) for cap in caps]) or []) == pytest.approx(1)


def test_a_flat_curve_is_its_own_area_and_never_more_than_all() -> None:
    weights = np.array([1, 2, 5])
    shares = area_weights([1.0, 3.0, 7.0, 11.0])
    assert shares is not None
    assert area([8] * 4, 8, shares, weights)[0] == 1.0
    assert area([8] * 4, 8, shares, weights)[2] == 1.0
    assert area([2] * 4, 8, shares, weights)[0] == 0.25
    assert area([0] * 4, 8, shares, weights)[:2] == (0.0, 0.0)


def test_one_cap_has_no_area() -> None:
    assert area_weights([4.0]) is None
    assert area_weights([4.0, 4.0]) is None
    assert area_weights([]) is None
