"""Intervals hold what they promise: exactly where that can be summed, else in seeded worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from difference_coverage import AHEAD, exact_tango, of_rates, one_way, uneven
from difference_coverage import row as difference_row
from frozenbench.stats.resample import index_matrix, resampled_totals
from rate_coverage import GRID, exact_coverage, percentile_ends, simulated_coverage, wilson_ends
from scipy.stats import binom
from simulated_worlds import CORRELATED, draw_passes, weights_of


def coverage(tasks: int, pattern: str = "equal") -> Any:
    weights = weights_of(pattern, tasks)
    ends = wilson_ends(weights)
    return np.array([exact_coverage(ends, weights, float(rate)) for rate in GRID])


@pytest.mark.parametrize("tasks", [24, 60, 500])
def test_one_rate_is_held_by_93_to_97_percent_and_nowhere_by_less_than_90(tasks: int) -> None:
    held = coverage(tasks)
    assert 0.93 <= held.mean() <= 0.97
    assert held.min() >= 0.90


@pytest.mark.parametrize("pattern", ["starter", "spread"])
@pytest.mark.parametrize("tasks", [24, 60])
def test_weights_keep_the_coverage_of_one_rate(tasks: int, pattern: str) -> None:
    held = coverage(tasks, pattern)
    assert 0.93 <= held.mean() <= 0.97
    assert held.min() >= 0.90


def test_the_percentile_bootstrap_that_is_not_used_would_fail() -> None:
    ends, weights = percentile_ends(24), weights_of("equal", 24)
    assert exact_coverage(ends, weights, 0.02) < 0.45
    ends = percentile_ends(60)
    index = index_matrix("5eed", 4000, 60)
    values = (np.arange(60) < 7).astype(np.int64)
    drawn = np.sort(resampled_totals(index, values[None])[0]) / 60
    assert drawn[100] == pytest.approx(ends[0][7], abs=1.01 / 60)
    assert drawn[-101] == pytest.approx(ends[1][7], abs=1.01 / 60)


def test_exact_and_simulated_coverage_agree() -> None:
    weights = weights_of("starter", 24)
    ends = wilson_ends(weights)
    drawn = simulated_coverage(ends, weights, 400)
    exact = coverage(24, "starter")
    assert np.all(np.abs(drawn - exact) < 4.5 * np.sqrt(exact * (1 - exact) / 400) + 1e-9)


def test_the_exact_coverage_is_a_binomial_sum_at_equal_weights() -> None:
    ends = wilson_ends(weights_of("equal", 24))
    passed = np.arange(25)
    inside = (ends[0] <= 0.3) & (ends[1] >= 0.3)
    expected = binom.pmf(passed, 24, 0.3)[inside].sum()
    assert exact_coverage(ends, weights_of("equal", 24), 0.3) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("discordant", [10, 20, 30])
def test_a_shown_difference_is_held_by_92_percent_and_more(discordant: int) -> None:
    shown = [exact_tango(60, discordant, ahead)[0] for ahead in AHEAD]
    assert min(shown) >= 0.92
    assert np.mean(shown) <= 0.97


@pytest.mark.parametrize(
    ("pattern", "repeats"), [("starter", 1), ("spread", 1), ("one heavy", 1), ("equal", 3)]
)
@pytest.mark.parametrize("ahead", [0.7, 1.0])
def test_a_weighted_or_repeated_difference_is_held_by_92_percent_in_seeded_worlds(
    pattern: str, repeats: int, ahead: float
) -> None:
    drawn = one_way(60, pattern, 20, ahead, 500, repeats)
    row = difference_row("one way", pattern, ahead, drawn)
    assert row["interval"] == "adjusted tango"
    assert row["coverage"] >= 0.92 - 3 * row["standard_error"]
    assert row["coverage"] < 1 or (pattern, ahead) == ("one heavy", 1.0)


def test_the_percentile_bootstrap_of_a_difference_that_is_not_used_would_be_worse() -> None:
    """Ten expected discordant tasks at starter weights: it misses more, and more often the test."""
    drawn = one_way(60, "starter", 10, 0.6, 2000, 1)
    row = difference_row("one way", "starter", 0.6, drawn)
    assert row["coverage_bootstrap"] + 0.01 < row["coverage"]
    assert row["as_test_bootstrap"] + 0.03 < row["as_test"]


def test_worlds_of_differences_have_the_difference_that_they_are_said_to_have() -> None:
    for drawn in (
        one_way(60, "starter", 20, 0.8, 4000, 3),
        of_rates(60, "starter", (0.4, 0.6), 4000, 3),
        *(uneven(60, "starter", kind, 4000, 3) for kind in ("all", "heavy", "light", "opposed")),
    ):
        weights = np.broadcast_to(drawn.weights, drawn.differences.shape)
        found = (drawn.differences * weights).sum() / (drawn.repeats * weights.sum())
        assert found == pytest.approx(drawn.delta, abs=0.01)
        assert (drawn.differences != 0).sum(axis=1).mean() == pytest.approx(
            drawn.expected, rel=0.02
        )


@pytest.mark.parametrize("rate", [0.02, 0.42, 0.97])
def test_worlds_have_the_rates_that_they_are_given_whatever_hangs_together(rate: float) -> None:
    found = draw_passes([[rate, rate]], 50, 800, (1,), CORRELATED, repeats=2)
    assert found.max() <= 2
    assert found.mean() / 2 == pytest.approx(rate, abs=0.01)
    a, b = found[:, 0, 0].ravel(), found[:, 0, 1].ravel()
    assert np.corrcoef(a, b)[0, 1] > 0.2
