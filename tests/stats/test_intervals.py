"""Wilson and Tango against statsmodels, R, the defining equations, and at their edges."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from frozenbench.stats.intervals import effective_n, tango, tango_score, wilson
from hypothesis import assume, given
from hypothesis import strategies as st
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
