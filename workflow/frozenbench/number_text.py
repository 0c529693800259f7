"""How a count, a rate, a difference of rates and a p are written: alike on the page and in a write-up.

Units and what stands where a value is not known are added by who prints it.
"""

from __future__ import annotations

#: Levels of tests: a p beside one is told apart from it.
_LEVELS = (0.1, 0.05, 0.025, 0.02, 0.01, 0.005, 0.001)
#: So many significant digits tell any two floats apart.
_MOST_DIGITS = 17


def count(number: int, word: str) -> str:
    """Write `1 task`, `2 tasks`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def percent(rate: float) -> str:
    """Write a rate as per cent with one decimal, without the sign."""
    return f"{100 * rate:.1f}"


def points(difference: float, decimals: int = 1) -> str:
    """Write a difference of rates as percentage points with its sign, a hyphen for minus; 0 has none."""
    text = f"{100 * difference:+.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def p_value(p: float) -> str:
    """Write a p in (0, 1] with two significant digits, or more where those are 1 or a usual level.

    So only 1 is written 1, only .05 is .05, and nothing is 0.
    """
    for digits in range(2, _MOST_DIGITS):
        text = f"{p:.{digits}g}"
        if float(text) == p or float(text) not in (*_LEVELS, 1):
            return text
    return f"{p:.{_MOST_DIGITS}g}"
