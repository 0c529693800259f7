"""How values are written in a write-up, also those that are not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenbench import number_text

#: What stands where a value is not known, or is not to be had.
UNKNOWN = "n/a"


def percent(value: float | None) -> str:
    """Write a rate as per cent with one decimal, without the sign."""
    return UNKNOWN if value is None else number_text.percent(value)


def points(value: float | None) -> str:
    """Write a difference of rates as percentage points with its sign; 0 has none."""
    return UNKNOWN if value is None else number_text.points(value)


def number(value: float | None, decimals: int = 0) -> str:
    """Write a count or a mean."""
    return UNKNOWN if value is None else f"{value:.{decimals}f}"


def cap(value: float | None) -> str:
    """Write a cap: no exponent, no needless decimals."""
    return "no cap" if value is None else f"{value:.10g}"


def dates(responses: Mapping[str, Any]) -> str:
    """Write from when to when responses are, one day once."""
    first, last = responses["first_date"], responses["last_date"]
    if first is None:
        return UNKNOWN
    return str(first) if first == last else f"{first} to {last}"


def within(low: str, high: str) -> str:
    """Write an interval from its two ends."""
    return UNKNOWN if UNKNOWN in (low, high) else f"[{low}, {high}]"
