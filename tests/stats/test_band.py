"""The max-T band: its standard error against statsmodels, its width against the normal theory."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from frozenbench.stats.band import MaxT, standard_error
from frozenbench.stats.resample import index_matrix, resampled_totals
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.linear_model import WLS

rows = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(1, 9)), min_size=2, max_size=40
)  # k_A - k_B of three repeats, weight


@given(rows)
def test_the_error_is_that_of_a_weighted_mean_with_its_variance_seen(
    drawn: list[tuple[int, int]],
) -> None:
    k, w = (np.array(column, dtype=np.int64) for column in zip(*drawn, strict=True))
    fit = WLS(k / 3, np.ones(len(k)), weights=w).fit(cov_type="HC0")
    assert standard_error(k * w, w, 3) == pytest.approx(fit.bse[0], abs=1e-9)


@given(rows, st.integers(2, 50))
def test_weights_in_finer_units_give_the_same_bits(drawn: list[tuple[int, int]], by: int) -> None:
    k, w = (np.array(column, dtype=np.int64) for column in zip(*drawn, strict=True))
    assert standard_error(k * w * by, w * by, 3) == standard_error(k * w, w, 3)


def test_the_error_is_the_spread_of_the_resamples() -> None:
    draw = np.random.default_rng(3)
    w = draw.integers(1, 6, 200)
    k = draw.integers(-1, 2, 200)
    totals = resampled_totals(index_matrix("5eed", 4000, 200), np.vstack([(k + 1) * w, w]))
    spread = np.std((totals[0] - totals[1]) / totals[1])
    assert standard_error(k * w, w, 1) == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("contrasts", [1, 4, 12])
def test_the_width_over_independent_contrasts_is_sidaks(contrasts: int) -> None:
    draw = np.random.default_rng(7)
    band = MaxT(40_000)
    for number in range(contrasts):
        band.add(0.5 + draw.normal(size=40_000) * (1 + number), 0.5, 1.0 + number)
    expected = NormalDist().inv_cdf((1 + 0.95 ** (1 / contrasts)) / 2)
    assert band.critical(0.95) == pytest.approx(expected, abs=0.03)


def test_the_width_is_an_order_statistic() -> None:
    band = MaxT(100)
    band.add(np.arange(1.0, 101.0), 0.0, 1.0)
    assert band.critical(0.95) == 95.0
    band.add(np.full(100, 50.0), 0.0, 0.5)
    assert band.critical(0.05) == 100.0


def test_no_contrast_has_no_band() -> None:
    assert MaxT(10).critical(0.95) is None
