"""What a pack can tell: the least discordance that rejects, and the n for 80 % power."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.holm import holm
from frozenbench.stats.power import (
    cannot_confirm,
    clearness,
    first_step,
    min_discordant,
    tasks_for_power,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom


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


def test_a_pack_cannot_confirm_when_more_than_half_of_its_tasks_would_have_to_differ() -> None:
    assert not cannot_confirm(6, 12)
    assert cannot_confirm(6, 11)


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
    n = tasks_for_power(differences, True, level)
    assert n is not None
    at, before = (
        power_by_enumeration(size, ahead / tasks, behind / tasks, level) for size in (n, n - 1)
    )
    assert before < 0.8 <= at


def test_weights_use_the_normal_approximation_which_lies_near_the_exact_n() -> None:
    differences = np.array([1] * 70 + [-1] * 30 + [0] * 100)
    exact = tasks_for_power(differences, True, 0.01)
    approximate = tasks_for_power(differences * 3, False, 0.01)
    assert exact is not None
    assert approximate is not None
    assert 0.9 * exact < approximate <= exact


def test_n_of_one_way_discordance_is_a_binomial_tail_of_scipy() -> None:
    """All discordant tasks one way: rejected is having at least `min_discordant` of them."""
    differences = np.array([1] * 3 + [0] * 17)
    n = tasks_for_power(differences, True, 0.05 / 12)
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
    exact = tasks_for_power(differences, True, 0.01)
    approximate = tasks_for_power(differences * 3, False, 0.01)
    assert exact is not None
    assert approximate is not None
    if approximate > 1000:
        assert exact == pytest.approx(approximate, rel=0.15)


def test_no_difference_has_no_n() -> None:
    assert tasks_for_power(np.array([1, -1, 0]), True, 0.05) is None
    assert clearness(np.array([0, 0])) == 0


def test_the_first_step_of_no_contrast_is_alpha() -> None:
    assert first_step(0, 0.05) == 0.05
    assert first_step(10, 0.05) == 0.005


def test_clearness_is_free_of_units() -> None:
    assert clearness(np.array([1, 1, -1, 0])) == clearness(np.array([4, 4, -4])) == Fraction(1, 3)
