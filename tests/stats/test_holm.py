"""Holm's adjustment against statsmodels, and what it promises."""

from __future__ import annotations

import pytest
from frozenbench.stats.holm import holm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.001, 0.01, 1.0]), min_size=1, max_size=30)


@given(p_values)
@settings(max_examples=25, deadline=None)  # statsmodels takes 40 ms a call
def test_equals_statsmodels(values: list[float]) -> None:
    rejected, adjusted, _, _ = multipletests(values, alpha=0.05, method="holm")
    assert holm(values) == pytest.approx(list(adjusted), abs=1e-15)
    if all(abs(p - 0.05) > 1e-9 for p in adjusted):
        assert [p <= 0.05 for p in holm(values)] == list(rejected)


@given(p_values)
def test_is_never_below_p_nor_above_one_and_keeps_the_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    by_p = [q for _, q in sorted(zip(values, adjusted, strict=True))]
    assert by_p == sorted(adjusted)


@given(p_values, st.randoms())
def test_depends_on_no_order(values: list[float], random: object) -> None:
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    expected = holm(values)
    assert holm([values[i] for i in order]) == [expected[i] for i in order]


def test_of_nothing_is_nothing() -> None:
    assert holm([]) == []
