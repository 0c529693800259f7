"""How rates, differences and p values are written, on the page and in a write-up."""

from __future__ import annotations

import pytest
from frozenbench.number_text import p_value, percent, points
from hypothesis import example, given
from hypothesis import strategies as st

LEVELS = (0.1, 0.05, 0.025, 0.02, 0.01, 0.005, 0.001, 1.0)
P = st.floats(2.0**-1000, 1)
#: What rounds to a level.
BESIDE = st.builds(
    lambda level, share, scale: min(1.0, level * (1 + share * scale)),
    st.sampled_from(LEVELS),
    st.floats(-1, 1),
    st.sampled_from((1e-2, 1e-4, 1e-8)),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(0.86049), "86.0"),
        (percent(1), "100.0"),
        (points(0.125), "+12.5"),
        (points(-0.125), "-12.5"),
        (points(-0.0001), "0.0"),
        (points(0.0), "0.0"),
        (points(-0.125, 0), "-12"),
        (points(-0.004, 0), "0"),
        (p_value(1.0), "1"),
        (p_value(0.05), "0.05"),
        (p_value(0.04999), "0.04999"),
        (p_value(0.049999999), "0.049999999"),
        (p_value(0.0999), "0.0999"),
        (p_value(0.0512), "0.051"),
        (p_value(0.9996), "0.9996"),
        (p_value(0.999999), "0.999999"),
        (p_value(2.0**-29), "1.9e-09"),
        (p_value(2.0**-1000), "9.3e-302"),
    ],
)
def test_a_number_is_written_so(text: str, expected: str) -> None:
    assert text == expected


@given(P | BESIDE)
@example(1 - 2.0**-53)
@example(0.05 + 2.0**-57)
def test_a_p_is_read_as_what_it_is(p: float) -> None:
    read = float(p_value(p))
    assert read > 0
    assert abs(read - p) <= 0.05 * p, "two significant digits or more"
    for level in LEVELS:
        assert (read == level) == (p == level), "never rounded to a level"
        assert (read < level) == (p < level), "on the same side of it"
