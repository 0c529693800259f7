"""Wilson and Tango against statsmodels, R, the defining equations, and at their edges."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.intervals import adjusted_tango, effective_n, tango, tango_score, wilson
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

Z = NormalDist().inv_cdf(0.975)


@st.composite
def paired_counts(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 400))
    ahead = draw(st.integers(0, n))
    return ahead, draw(st.integers(0, n - ahead)), n


@given(st.integers(1, 500), st.data())
def test_wilson_equals_statsmodels(n: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    found = wilson(Fraction(passed, n), Fraction(n))
    assert found == pytest.approx(proportion_confint(passed, n, method="wilson"), abs=1e-12)


@given(st.fractions(0, 1), st.fractions(Fraction(1), 1000))
def test_wilson_holds_its_rate_and_stays_a_rate(rate: Fraction, n: Fraction) -> None:
    low, high = wilson(rate, n) or (2.0, -1.0)
    assert 0 <= low <= float(rate) <= high <= 1


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(Fraction(1), 1000))
def test_wilsons_ends_solve_the_score_equation(rate: Fraction, n: Fraction) -> None:
    for end in wilson(rate, n) or ():
        if 0 < end < 1:
            z = (float(rate) - end) / math.sqrt(end * (1 - end) / float(n))
            assert abs(z) == pytest.approx(Z, abs=1e-8)


def test_wilson_at_the_edges() -> None:
    assert wilson(Fraction(0), Fraction(5)) == (0.0, pytest.approx(0.4345, abs=5e-5))
    assert wilson(Fraction(1), Fraction(5)) == (pytest.approx(0.5655, abs=5e-5), 1.0)
    assert wilson(Fraction(1), Fraction(1)) == (pytest.approx(0.2065, abs=5e-5), 1.0)
    assert wilson(None, Fraction(0)) is None


def test_effective_n() -> None:
    assert effective_n(np.array([3, 3, 3, 3])) == 4
    assert effective_n(np.array([1, 2, 5])) == Fraction(64, 30)
    assert effective_n(np.array([], dtype=np.int64)) == 0


@pytest.mark.parametrize(
    ("ahead", "behind", "n", "level", "low", "high"),
    [
        # Fagerland, Lydersen & Laake 2014, Statistics in Medicine 33, 2850-2875: the two examples
        # (airway hyper-responsiveness; complete response).
        (1, 7, 21, 0.95, -0.517, -0.026),
        (6, 16, 161, 0.95, -0.124, -0.0054),
        # R, PropCIs::scoreci.mp(25, 28, 618) and (41, 48, 549) at 90 %.
        (28, 25, 618, 0.90, -0.0148, 0.0247),
        (48, 41, 549, 0.90, -0.0157, 0.0414),
    ],
)
def test_tango_equals_published_values(
    ahead: int, behind: int, n: int, level: float, low: float, high: float
) -> None:
    assert tango(ahead, behind, n, level) == pytest.approx(
        (low, high), abs=5e-4 if n == 21 else 6e-5
    )


@given(paired_counts())
def test_tangos_ends_solve_the_defining_equation(counts: tuple[int, int, int]) -> None:
    """Substitution, with the restricted likelihood maximised anew instead of by its formula."""
    ahead, behind, n = counts
    for end, sign in zip(tango(ahead, behind, n) or (), (1, -1), strict=True):
        assume(-0.999 < end < 0.999)
        share = restricted_maximum(ahead, behind, n, end)
        variance = n * (2 * share + end - end**2)
        assert (ahead - behind - n * end) / math.sqrt(variance) == pytest.approx(sign * Z, abs=1e-3)


def restricted_maximum(ahead: int, behind: int, n: int, delta: float) -> float:
    """The most likely share q of tasks that B alone solves, given p_A - p_B = delta."""

    def slope(q: float) -> float:
        total = -2.0 * (n - ahead - behind) / (1 - 2 * q - delta) if n > ahead + behind else 0.0
        total += ahead / (q + delta) if ahead else 0.0
        return total + (behind / q if behind else 0.0)

    low, high = max(0.0, -delta), (1 - delta) / 2
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


@given(paired_counts())
def test_tango_mirrors_holds_its_estimate_and_stays_in_range(counts: tuple[int, int, int]) -> None:
    ahead, behind, n = counts
    low, high = tango(ahead, behind, n) or (2.0, -2.0)
    assert -1 <= low <= (ahead - behind) / n <= high <= 1
    assert low < high
    assert tango(behind, ahead, n) == pytest.approx((-high, -low), abs=1e-9)


@given(paired_counts(), st.floats(-0.99, 0.99), st.floats(-0.99, 0.99))
def test_tangos_score_falls(counts: tuple[int, int, int], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert tango_score(low, *counts) >= tango_score(high, *counts) - 1e-9


def test_tango_without_a_discordant_task() -> None:
    n = 44
    assert tango(0, 0, n) == pytest.approx((-(Z**2) / (n + Z**2), Z**2 / (n + Z**2)), abs=1e-9)
    assert tango(0, 0, 0) is None
    assert tango(7, 0, 7) == (pytest.approx(2 * 7 / (7 + Z**2) - 1, abs=1e-9), 1.0)


@st.composite
def weighted_differences(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """k_A − k_B, weights and repeats of 12 to 80 tasks; at most a few weigh much."""
    repeats = draw(st.integers(1, 5))
    tasks = draw(st.integers(12, 80))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    a, b = draw(st.floats(0.02, 0.98)), draw(st.floats(0.02, 0.98))
    k = seed.binomial(repeats, [[a], [b]], (2, tasks))
    weights = seed.choice(draw(st.sampled_from([(1,), (1, 2, 5), (1, 2, 3, 5, 8)])), tasks)
    return k[0] - k[1], weights.astype(np.int64), repeats


def score_by_definition(d: np.ndarray, w: np.ndarray, r: int, delta: float) -> float:
    """The adjusted score task by task, its restricted likelihood maximised by scipy."""
    x, share = d / r, w / w.sum()
    ahead, behind = float(share @ np.maximum(x, 0)), float(share @ np.maximum(-x, 0))

    def loss(q: float) -> float:
        cells = ((ahead, q + delta), (behind, q), (1 - ahead - behind, 1 - 2 * q - delta))
        return -sum(seen * math.log(max(chance, 1e-300)) for seen, chance in cells if seen > 1e-15)

    ends = (max(0.0, -delta), (1 - delta) / 2)
    q = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    n = 1 / float(share @ share)
    variance = (2 * q + delta - delta**2) / n
    trinomial = float(share @ (np.abs(x) - 2 * delta * x + delta**2)) / n
    seen = max(
        float(share**2 @ (x - delta) ** 2),
        float(share**2 @ (np.abs(x) - 2 * delta * x + delta**2)) / r,
    )
    return (ahead - behind - delta) / math.sqrt(variance * seen / trinomial)


@given(weighted_differences())
@settings(deadline=None, max_examples=60)
def test_the_adjusted_ends_solve_the_defining_equation(
    drawn: tuple[np.ndarray, np.ndarray, int],
) -> None:
    d, w, r = drawn
    for end, sign in zip(adjusted_tango(d * w, w, r) or (), (1, -1), strict=True):
        assume(-0.99 < end < 0.99)
        assert score_by_definition(d, w, r, end) == pytest.approx(sign * Z, abs=2e-3)


@given(paired_counts(), st.integers(1, 9))
@settings(deadline=None)
def test_adjusted_is_tango_at_equal_weights_and_one_repeat(
    counts: tuple[int, int, int], weight: int
) -> None:
    ahead, behind, n = counts
    d = np.array([1] * ahead + [-1] * behind + [0] * (n - ahead - behind), dtype=np.int64)
    weights = np.full(n, weight, dtype=np.int64)
    assert adjusted_tango(d * weight, weights, 1) == pytest.approx(tango(*counts), abs=1e-12)


@given(weighted_differences())
@settings(deadline=None)
def test_adjusted_mirrors_holds_its_estimate_and_stays_in_range(
    drawn: tuple[np.ndarray, np.ndarray, int],
) -> None:
    d, w, r = drawn
    low, high = adjusted_tango(d * w, w, r) or (2.0, -2.0)
    assert -1 <= low <= float(d @ w) / (r * int(w.sum())) <= high <= 1
    assert low < high
    assert adjusted_tango(-d * w, w, r) == pytest.approx((-high, -low), abs=1e-9)
    assert adjusted_tango(d * w * 7, w * 7, r) == (low, high)
    if r == 1:  # twice the same answers are one answer
        assert adjusted_tango(d * w * 2, w, 2) == (low, high)


@given(weighted_differences())
@settings(deadline=None)
def test_adjusted_leaves_0_out_where_the_normal_form_of_the_exact_test_rejects(
    drawn: tuple[np.ndarray, np.ndarray, int],
) -> None:
    d, w, r = drawn
    s = d * w
    assume(s.any())
    z = abs(int(s.sum())) / math.sqrt(int(s @ s))
    assume(abs(z - Z) > 1e-6)
    low, high = adjusted_tango(s, w, r) or (-1.0, 1.0)
    assert (low > 0 or high < 0) is (z > Z)


def test_at_equal_weights_that_is_statsmodels_mcnemar_without_correction() -> None:
    for ahead, behind in ((14, 4), (13, 4), (12, 5), (30, 17), (30, 16)):
        p = mcnemar([[0, ahead], [behind, 0]], exact=False, correction=False).pvalue
        d = np.array([1] * ahead + [-1] * behind + [0] * 9, dtype=np.int64)
        low, high = adjusted_tango(d, np.ones_like(d), 1) or (-1.0, 1.0)
        assert (low > 0 or high < 0) is bool(p < 0.05)


def test_with_many_tasks_it_nears_the_bootstrap_and_the_exact_test() -> None:
    draw = np.random.default_rng(4)
    w = draw.choice([1, 1, 1, 1, 2, 5], 4000)
    k = draw.binomial(3, [[0.55], [0.5]], (2, 4000))
    s = (k[0] - k[1]) * w
    index = draw.integers(0, 4000, (4000, 4000))
    drawn = s[index].sum(axis=1) / (3 * w[index].sum(axis=1))
    assert adjusted_tango(s, w, 3) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=2e-3)
    assert sign_flip_p(s) < 0.05


def test_adjusted_is_never_without_width() -> None:
    ones = np.ones(24, dtype=np.int64)
    assert adjusted_tango(ones, ones, 1) == pytest.approx(tango(24, 0, 24), abs=1e-12)
    for repeats in (3, 5):  # every task one repeat apart
        low, high = adjusted_tango(ones, ones, repeats) or (0.0, 0.0)
        assert low < 1 / repeats - 0.05 < 1 / repeats + 0.05 < high
    w = np.array([1, 2] * 12)
    assert (adjusted_tango(w, w, 1) or (1.0, 1.0))[0] < 0.9
    assert adjusted_tango(w, w, 1) == (pytest.approx(2 * 21.6 / (21.6 + Z**2) - 1, abs=1e-9), 1.0)
    empty = np.array([], dtype=np.int64)
    assert adjusted_tango(empty, empty, 1) is None


def test_adjusted_holds_what_lies_between_where_few_tasks_carry_the_weight() -> None:
    """Six of 26 tasks weigh 100: away from the estimate the score comes back within ±z."""
    w = np.array([100, 5, 3, 5, 3, 1, 100, 5, 1, 2, 100, 8, 2, 3, 3, 100, 8, 2, 1, 100, 3, 1, 5])
    w = np.append(w, [100, 2, 8])
    d = np.zeros(26, dtype=np.int64)
    d[[4, 7, 8, 12, 14, 25]], d[16] = 1, 2
    low, high = adjusted_tango(d * w, w, 4) or (0.0, 0.0)
    looks = np.linspace(-0.6, 0.6, 1201)
    held = np.array([abs(score_by_definition(d, w, 4, float(x))) <= Z for x in looks])
    assert not held[held.argmax() : len(held) - held[::-1].argmax()].all()
    assert low == pytest.approx(looks[held].min(), abs=1.1e-3)
    assert high == pytest.approx(looks[held].max(), abs=1.1e-3)
