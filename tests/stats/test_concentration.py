"""What the notice on heavy tasks says is exact, and it is given where it must be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from frozenbench.stats.concentration import (
    LEAST_COVERAGE,
    interval_coverage,
    weight_notice,
)
from frozenbench.stats.intervals import effective_n, wilson
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

RATES = np.arange(1, 100) / 100


def by_convolution(weights: list[int]) -> np.ndarray:
    """Coverage at each rate, one task after the other."""
    whole, held = sum(weights), []
    size = effective_n(np.array(weights))
    low, high = np.array([wilson(Fraction(x, whole), size) for x in range(whole + 1)]).T
    for rate in RATES:
        chance = np.array([1.0])
        for weight in weights:
            step = np.zeros(weight + 1)
            step[0], step[-1] = 1 - rate, rate
            chance = np.convolve(chance, step)
        held.append(chance[(low <= rate) & (rate <= high)].sum())
    return np.array(held)


@given(st.lists(st.sampled_from([1, 1, 1, 2, 3, 7, 20]), min_size=2, max_size=25))
@settings(deadline=None, max_examples=25)
def test_the_coverage_is_that_of_a_convolution_task_by_task(weights: list[int]) -> None:
    found, expected = interval_coverage(tuple(weights)), by_convolution(weights)
    assert found.mean == pytest.approx(expected.mean(), abs=1e-9)
    assert found.least == pytest.approx(expected.min(), abs=1e-9)


def test_at_equal_weights_it_is_a_binomial_sum() -> None:
    found = interval_coverage((3,) * 30)
    ends = np.array([wilson(Fraction(passed, 30), Fraction(30)) for passed in range(31)])
    held = [
        binom.pmf(np.flatnonzero((ends[:, 0] <= p) & (p <= ends[:, 1])), 30, p).sum() for p in RATES
    ]
    assert found.least == pytest.approx(min(held), abs=1e-12)
    assert found.mean == pytest.approx(np.mean(held), abs=1e-12)
    assert found.at == RATES[int(np.argmin(held))]


def test_one_task_of_a_fifth_of_the_weight_is_told_with_its_figures() -> None:
    notice = weight_notice([1] * 499 + [125])
    assert notice is not None
    for part in ("one alone has 20.0 % of it", "500 tasks count as 24.1", "84.8 %", "95.7 %"):
        assert part in notice


@pytest.mark.parametrize(
    "weights",
    [
        [1] * 6,
        [7] * 500,
        [1, 1, 1, 1, 2, 5],
        [1, 1, 1, 1, 2, 5] * 80,
        [1, 2, 3, 5, 8] * 12,
        [],
        [4],
    ],
)
def test_usual_weights_give_no_notice(weights: list[int]) -> None:
    assert weight_notice(weights) is None


def test_few_tasks_alone_give_no_notice() -> None:
    assert interval_coverage((1,) * 6).least < LEAST_COVERAGE
    assert interval_coverage((1, 1, 1, 1, 2, 5)).least < LEAST_COVERAGE
    assert weight_notice([1, 1, 1, 1, 2, 5]) is None


def test_weights_in_finer_units_change_nothing() -> None:
    weights = [1] * 60 + [20]
    assert weight_notice(weights) == weight_notice([w * 1000 for w in weights])


def test_absurd_units_are_rounded_and_told_alike() -> None:
    weights = [1] * 60 + [20]
    uneven = [w * 100_003 + place for place, w in enumerate(weights)]
    rounded, exact = interval_coverage(tuple(uneven)), interval_coverage(tuple(weights))
    assert rounded.least == pytest.approx(exact.least, abs=0.03)
    assert weight_notice(uneven) is not None
