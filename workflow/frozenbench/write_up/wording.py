"""How values are written, and the names of their macros in letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from frozenbench.canonical import sha256_bytes

#: What stands where a value is not known, or is not to be had.
UNKNOWN = "n/a"

#: Levels of tests: a p beside one is told apart from it.
_LEVELS = (0.05, 0.01, 0.001)
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def percent(value: float | None) -> str:
    """Write a rate as per cent with one decimal, without the sign."""
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """Write a difference of rates as percentage points with its sign; 0 has none."""
    if value is None:
        return UNKNOWN
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def p_value(value: float) -> str:
    """Write a p with two significant digits, never as 0, and never rounded to 1 or to a usual level."""
    if value == 1:
        return "1"
    text = f"{value:.2g}"
    close = float(text) in (*_LEVELS, 1) and float(text) != value
    return f"{value:.4g}" if close else text


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


def letters(name: str) -> str:
    """Return a name in letters alone: `calls-16` is CallsOneSix, `pass_rate` PassRate."""
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z]+|[0-9]", bare)
    return "".join(
        _DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:] for word in words
    )


def macro_names(keys: Sequence[str], prefix: str) -> Mapping[str, str]:
    """Return key -> name of its macro, in letters, different for different keys.

    A name depends on its key alone, unless two keys come out alike (`a-b` and `a.b`): then each of
    them ends with eight letters of its own digest.
    """
    plain = {key: prefix + "".join(letters(part) for part in key.split("/")) for key in keys}
    alike: dict[str, int] = {}
    for name in plain.values():
        alike[name] = alike.get(name, 0) + 1
    return {
        key: name if alike[name] == 1 else name + _digest_letters(key)
        for key, name in plain.items()
    }


def _digest_letters(key: str) -> str:
    digest = sha256_bytes(key.encode())[:8]
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest)
