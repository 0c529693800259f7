"""Ranks share their ties; rank intervals come from resamples and hold the rank."""

from __future__ import annotations

import numpy as np
from frozenbench.stats.ranks import order_differs, rank_intervals, shared_ranks
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata


def test_ties_share_their_rank() -> None:
    assert shared_ranks([7, 5, 5, 1]) == [1, 2, 2, 4]
    assert shared_ranks([0, 0, 0]) == [1, 1, 1]
    assert shared_ranks([]) == []


def test_ties_are_those_of_integers_that_no_float_could_tell_apart() -> None:
    assert shared_ranks([2**60, 2**60 + 1]) == [2, 1]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_equals_scipys_competition_ranks(scores: list[int]) -> None:
    expected = rankdata([-score for score in scores], method="min")
    assert shared_ranks(scores) == expected.astype(int).tolist()


def test_interval_ends_are_order_statistics_of_the_resampled_ranks() -> None:
    # 1,000 resamples: A leads in all but 30, so 25 of the 30 are cut off above.
    a, b = np.full(1000, 5.0), np.full(1000, 3.0)
    a[:30] = 1.0
    assert rank_intervals(np.array([a, b]), [1, 2], 0.95) == [(1, 2), (1, 2)]
    a[:5] = 5.0
    assert rank_intervals(np.array([a, b]), [1, 2], 0.95) == [(1, 1), (2, 2)]


def test_an_interval_holds_the_observed_rank() -> None:
    totals = np.array([[1.0] * 100, [2.0] * 100])
    assert rank_intervals(totals, [1, 1], 0.95) == [(1, 2), (1, 1)]


def test_order_differs_when_a_tie_is_broken_or_turned() -> None:
    assert not order_differs(np.array([5, 3]), np.array([2, 1]))
    assert order_differs(np.array([5, 3]), np.array([1, 1]))
    assert order_differs(np.array([5, 3]), np.array([1, 2]))
