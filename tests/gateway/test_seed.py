from __future__ import annotations

import pytest
from frozenbench.gateway.seed import request_seed
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.integers(min_value=0, max_value=2**40)


@pytest.mark.parametrize(
    ("material", "seed"),
    [
        # printf 0:0:0 | sha256sum: e8ca2bd5…, whose sign bit is dropped
        ((0, 0, 0), 1758079957),
        # 5fde48f9…
        ((7, 1, 3), 1608403193),
        # 1df217fa…
        ((20261130, 0, 0), 502405114),
    ],
)
def test_known_answers(material: tuple[int, int, int], seed: int) -> None:
    assert request_seed(*material) == seed


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_seed_fits_31_bits(base: int, repeat: int, proposal: int) -> None:
    assert 0 <= request_seed(base, repeat, proposal) < 2**31


def test_neighbours_differ() -> None:
    seeds = {request_seed(b, r, p) for b in (1, 11) for r in range(12) for p in range(12)}
    assert len(seeds) == 2 * 12 * 12
