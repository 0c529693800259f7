"""The exact sign-flip test against brute force, scipy's binomial test and exact integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from frozenbench.canonical import BadInput
from frozenbench.stats.exact import SMALLEST_P, sign_flip_p
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test, wilcoxon
from statsmodels.stats.contingency_tables import mcnemar

differences = st.lists(st.integers(-9, 9), max_size=40)


def by_all_signs(values: list[int]) -> float:
    observed = abs(sum(values))
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in product((-1, 1), repeat=len(values))
    ]
    return sum(total >= observed for total in sums) / len(sums)


def by_exact_integers(values: list[int]) -> Fraction:
    """The whole distribution of Σ ±s in Python integers, without any of the shortcuts."""
    counts = {0: 1}
    for value in values:
        grown: dict[int, int] = {}
        for total, count in counts.items():
            for moved in (total + value, total - value):
                grown[moved] = grown.get(moved, 0) + count
        counts = grown
    observed = abs(sum(values))
    hits = sum(count for total, count in counts.items() if abs(total) >= observed)
    return Fraction(hits, sum(counts.values()))


@given(st.lists(st.integers(-7, 7), min_size=1, max_size=10))
@settings(max_examples=150, deadline=None)
def test_equals_the_enumeration_of_all_signs(values: list[int]) -> None:
    assert sign_flip_p(values) == by_all_signs(values)


def test_equals_the_enumeration_of_all_4096_signs_of_twelve_weighted_tasks() -> None:
    values = [5, -2, 3, 3, 8, -1, 2, 5, 1, -3, 13, 2]
    assert sign_flip_p(values) == by_all_signs(values)


def test_equals_scipys_permutation_test_of_paired_samples() -> None:
    a, b = np.array([3, 0, 2, 5, 1, 4, 2, 2, 3]), np.array([1, 1, 0, 2, 1, 0, 2, 1, 5])
    found = permutation_test(
        (a, b), lambda x, y: np.sum(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p(a - b) == pytest.approx(found.pvalue, abs=1e-15)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50), st.sampled_from([1, 3]))
@settings(deadline=None)
def test_is_mcnemars_exact_test_at_equal_weights(
    ahead: int, behind: int, ties: int, weight: int
) -> None:
    expected = binomtest(ahead, ahead + behind).pvalue if ahead + behind else 1.0
    found = sign_flip_p([weight] * ahead + [-weight] * behind + [0] * ties)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("ahead", "behind"), [(8, 2), (10, 0), (7, 7), (61, 40)])
def test_equals_statsmodels_exact_mcnemar(ahead: int, behind: int) -> None:
    expected = mcnemar([[5, ahead], [behind, 9]], exact=True).pvalue
    found = sign_flip_p([1] * ahead + [-1] * behind)
    assert found == pytest.approx(min(1.0, expected), rel=1e-12)


@given(st.lists(st.sampled_from([-1, 1]), min_size=2, max_size=40))
@settings(deadline=None)
def test_with_the_weights_1_to_m_it_is_scipys_exact_wilcoxon_test(signs: list[int]) -> None:
    values = [sign * (place + 1) for place, sign in enumerate(signs)]
    assert sign_flip_p(values) == pytest.approx(wilcoxon(values, method="exact").pvalue, rel=1e-9)


@given(differences, st.randoms())
def test_is_symmetric_and_free_of_order_ties_and_units(values: list[int], random: object) -> None:
    p = sign_flip_p(values)
    shuffled = [*values, 0, 0]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sign_flip_p([-value for value in values]) == p
    assert sign_flip_p(shuffled) == p
    assert sign_flip_p([value * 12 for value in values]) == p


@given(differences)
def test_is_a_probability_that_is_never_zero(values: list[int]) -> None:
    assert 0 < sign_flip_p(values) <= 1


@pytest.mark.parametrize("tasks", [62, 63, 90, 140])
@pytest.mark.parametrize("seed", range(4))
def test_is_never_below_the_exact_value_and_above_it_by_the_stated_bound(
    tasks: int, seed: int
) -> None:
    draw = np.random.default_rng([seed, tasks])
    sizes = draw.choice([1, 2, 3, 5, 8, 13], size=tasks)
    values = (sizes * draw.choice([-1, 1, 1], size=tasks)).tolist()
    exact, found = by_exact_integers(values), Fraction(sign_flip_p(values))
    if tasks <= 62:
        assert float(found) == float(exact)
    else:
        assert exact <= found <= exact * (1 + Fraction(tasks + 4, 2**51))


def test_holds_its_bound_past_the_range_of_a_float() -> None:
    values = [1, 2] * 600 + [-1, -2] * 130  # 1,460 discordant tasks: 2^1460 subsets
    exact, found = by_exact_integers(values), Fraction(sign_flip_p(values))
    assert exact < Fraction(1, 10**100)
    assert exact <= found <= exact * (1 + Fraction(1464, 2**51))


def test_a_p_too_small_for_a_float_is_given_as_its_bound() -> None:
    assert sign_flip_p([1] * 5000) == SMALLEST_P
    assert sign_flip_p([1, 2] * 2500) == pytest.approx(SMALLEST_P, rel=1e-9)


def test_no_difference_gives_one() -> None:
    assert sign_flip_p([]) == sign_flip_p([0, 0]) == sign_flip_p([4, -4]) == 1.0


def test_weights_in_absurd_units_are_refused_by_name() -> None:
    with pytest.raises(BadInput, match="weight"):
        sign_flip_p([10**9, 10**9 + 1, -(10**9) - 7])
