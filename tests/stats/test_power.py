"""What a pack can tell: the least discordance that rejects, and the n for 80 % power."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.grid import IntArray
from frozenbench.stats.holm import holm
from frozenbench.stats.power import (
    cannot_confirm,
    clearness,
    few_tasks,
    first_step,
    min_discordant,
    tasks_for_power,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm


@given(st.integers(1, 10_000), st.sampled_from([0.05, 0.01, 0.1]), st.integers(1, 3))
def test_the_least_discordance_rejects_and_one_less_does_not(
    contrasts: int, alpha: float, weight: int
) -> None:
    least = min_discordant(contrasts, alpha)
    for tasks, rejects in ((least, True), (least - 1, False)):
        p = sign_flip_p([weight] * tasks)
        assert (holm([p] + [1.0] * (contrasts - 1))[0] <= alpha) is rejects


def test_known_numbers() -> None:
    assert min_discordant(1, 0.05) == 6  # 2 / 2^6 = .031
    assert min_discordant(12, 0.05) == 9
    assert min_discordant(9000, 0.05) == 19
    assert min_discordant(0, 0.05) == 6


@given(st.integers(1, 40), st.integers(1, 10_000), st.sampled_from([0.05, 0.01, 0.1]))
def test_a_pack_cannot_confirm_where_even_the_best_case_rejects_nothing(
    tasks: int, contrasts: int, alpha: float
) -> None:
    best = holm([sign_flip_p([1] * tasks)] * min(contrasts, 2) + [1.0] * (contrasts - 2))
    least = min_discordant(contrasts, alpha)
    assert cannot_confirm(least, tasks) is (min(best) > alpha)
    assert few_tasks(least, tasks) is (tasks < 2 * least and min(best) <= alpha)


def test_few_tasks_are_those_of_which_more_than_half_would_have_to_differ() -> None:
    assert [few_tasks(6, tasks) for tasks in (5, 6, 11, 12)] == [False, True, True, False]
    assert [cannot_confirm(6, tasks) for tasks in (5, 6, 11, 12)] == [True, False, False, False]


def connor(differences: IntArray, level: float, power: float = 0.8) -> float:
    """The normal approximation, written out from its source."""
    mean, second = abs(differences.mean()), (differences**2).mean()
    null = norm.isf(level / 2) * second**0.5
    return float(((null + norm.ppf(power) * (second - mean**2) ** 0.5) / mean) ** 2)


def power_by_enumeration(n: int, ahead: float, behind: float, level: float) -> float:
    total = 0.0
    for i in range(n + 1):
        for j in range(n + 1 - i):
            if i > j and sign_flip_p([1] * i + [-1] * j) <= level:
                ways = comb(n, i) * comb(n - i, j)
                total += ways * ahead**i * behind**j * (1 - ahead - behind) ** (n - i - j)
    return total


@pytest.mark.parametrize(
    ("ahead", "behind", "rest", "level"), [(6, 1, 5, 0.05), (5, 0, 15, 0.01), (9, 2, 9, 0.05 / 4)]
)
def test_n_is_where_the_exact_power_passes_80_percent(
    ahead: int, behind: int, rest: int, level: float
) -> None:
    tasks = ahead + behind + rest
    differences = np.array([-1] * ahead + [1] * behind + [0] * rest)
    n = tasks_for_power(differences, level)
    assert n is not None
    at, before = (
        power_by_enumeration(size, ahead / tasks, behind / tasks, level) for size in (n, n - 1)
    )
    assert before < 0.8 <= at


@given(st.integers(1, 9), st.integers(0, 8), st.integers(0, 60), st.integers(1, 500))
@settings(max_examples=60, deadline=None)
def test_one_size_of_s_has_the_exact_n_whatever_weight_or_repeats_made_it(
    ahead: int, behind: int, rest: int, size: int
) -> None:
    """Equal weights and one repeat are not asked for: the test sees the sizes that are not 0."""
    assume(ahead > behind)
    differences = np.array([1] * ahead + [-1] * behind + [0] * rest)
    n = tasks_for_power(differences, 0.05 / 3)
    assert tasks_for_power(size * differences, 0.05 / 3) == n
    assert tasks_for_power(-size * differences, 0.05 / 3) == n


def test_several_sizes_use_the_normal_approximation_which_lies_near_the_exact_n() -> None:
    differences = np.array([1] * 70 + [-1] * 30 + [0] * 100)
    exact = tasks_for_power(differences, 0.01)
    assert exact is not None
    assert 0.9 * exact < connor(differences, 0.01) <= exact
    several = np.array([2] * 70 + [-1] * 30 + [0] * 100)
    assert tasks_for_power(several, 0.01) == ceil(connor(several, 0.01))


def test_n_of_one_way_discordance_is_a_binomial_tail_of_scipy() -> None:
    """All discordant tasks one way: rejected is having at least `min_discordant` of them."""
    differences = np.array([1] * 3 + [0] * 17)
    n = tasks_for_power(differences, 0.05 / 12)
    least = min_discordant(12, 0.05)
    assert n is not None
    assert binom.sf(least - 1, n, 3 / 20) >= 0.8 > binom.sf(least - 1, n - 1, 3 / 20)


@given(st.integers(1, 60), st.integers(0, 40), st.integers(20, 400))
@settings(max_examples=40, deadline=None)
def test_the_approximation_above_2000_tasks_lies_near_the_exact_n(
    ahead: int, behind: int, rest: int
) -> None:
    assume(ahead > behind)
    differences = np.array([1] * ahead + [-1] * behind + [0] * rest)
    exact = tasks_for_power(differences, 0.01)
    approximate = connor(differences, 0.01)
    assert exact is not None
    if approximate > 1000:
        assert exact == pytest.approx(approximate, rel=0.15)


def test_no_difference_has_no_n() -> None:
    assert tasks_for_power(np.array([1, -1, 0]), 0.05) is None
    assert clearness(np.array([0, 0])) == 0


def test_the_first_step_of_no_contrast_is_alpha() -> None:
    assert first_step(0, 0.05) == 0.05
    assert first_step(10, 0.05) == 0.005


def test_clearness_is_free_of_units() -> None:
    assert clearness(np.array([1, 1, -1, 0])) == clearness(np.array([4, 4, -4])) == Fraction(1, 3)
