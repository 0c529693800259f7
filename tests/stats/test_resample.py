"""One index matrix, stable for ever, and sums over it that are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from frozenbench.canonical import BadInput
from frozenbench.stats.resample import central, index_matrix, resampled_totals, support
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

SEED = "c0ffee" * 10 + "beef"


def test_the_index_matrix_of_a_digest_never_changes() -> None:
    assert index_matrix(SEED, 2, 6).tolist() == [[1, 3, 5, 1, 5, 1], [1, 1, 1, 0, 5, 0]]


def test_another_digest_draws_other_tasks() -> None:
    other = SEED[:-1] + "0"
    assert not np.array_equal(index_matrix(SEED, 50, 20), index_matrix(other, 50, 20))


def test_every_task_is_drawn_equally_often() -> None:
    drawn = np.bincount(index_matrix(SEED, 20_000, 7).ravel(), minlength=7)
    assert len(drawn) == 7
    assert np.all(np.abs(drawn - 20_000) < 5 * np.sqrt(20_000))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**32), st.data())
@settings(deadline=None, max_examples=30)
def test_totals_are_the_sums_over_the_drawn_tasks(
    tasks: int, columns: int, high: int, data: st.DataObject
) -> None:
    values = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, high), min_size=tasks, max_size=tasks),
                min_size=columns,
                max_size=columns,
            )
        ),
        dtype=np.int64,
    )
    index = index_matrix(SEED, 1203, tasks)  # more than one block
    expected = values[:, index].sum(axis=2)
    assert np.array_equal(resampled_totals(index, values), expected)


def test_sums_that_a_float_cannot_hold_are_refused() -> None:
    with pytest.raises(BadInput, match="weight"):
        resampled_totals(index_matrix(SEED, 3, 4), np.array([[2**52, 0, 0, 0]]))


def test_support_is_the_share_with_both_observed_signs() -> None:
    first = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0])
    second = np.array([-1.0, -2.0, -1.0, 1.0, 0.0, -4.0])
    assert support(first, second, 1) == Fraction(1, 2)
    assert support(-first, -second, -1) == Fraction(1, 2)
    assert support(first, second, -1) == 0


def test_the_central_share_cuts_off_as_many_on_both_sides() -> None:
    assert central(np.arange(10_000)[::-1], 0.95) == (250.0, 9749.0)
    assert central(np.array([3.0]), 0.95) == (3.0, 3.0)


def test_the_central_share_of_a_resampled_difference_is_scipys_percentile_bootstrap() -> None:
    draw = np.random.default_rng(11)
    w = draw.integers(1, 6, 80)
    k = draw.binomial(3, [[0.7], [0.5]], size=(2, 80))
    totals = resampled_totals(index_matrix(SEED, 9999, 80), np.vstack([k * w, w * 3]))
    found = central((totals[0] - totals[1]) / totals[2], 0.95)
    expected = bootstrap(
        (k[0] * w, k[1] * w, w * 3),
        lambda a, b, whole, axis: (a.sum(axis=axis) - b.sum(axis=axis)) / whole.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=9999,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert found == pytest.approx(tuple(expected), abs=0.01)
