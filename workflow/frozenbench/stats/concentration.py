"""What a pack's weights do to the interval of a rate, measured for these very weights.

Wilson's interval at the effective n is built on a normal sum. Where one task, or a few, carry much
of the weight, the sum is not normal: it jumps by that task. How often the interval then holds the
true rate is summed exactly here, task by task, where each task passes with one chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from frozenbench.stats.grid import common_divisor, equal_weights
from frozenbench.stats.intervals import LEVEL, effective_n, wilson

#: A notice is given where the interval holds the true rate less often than this.
LEAST_COVERAGE = 0.90

#: True rates over which coverage is looked at.
_RATES = np.arange(1, 100) / 100

#: Largest sum of weights that is summed as it is; above it weights are rounded to this sum, which
#: bounds time and memory and moves a coverage by less than is printed.
_LARGEST_SUM = 4_000

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """How often the interval of a weighted rate holds the true one, over the rates .01 to .99.

    Attributes:
        least: the smallest share, and `at` the true rate where it is met.
        mean: the mean over those rates.
    """

    least: float
    at: float
    mean: float


def interval_coverage(weights: tuple[int, ...]) -> Coverage:
    """Return the coverage of Wilson's interval at the effective n for tasks of these weights.

    One repeat; each task passes by itself with the true rate. `weights` holds integers ≥ 1, at
    least one.
    """
    return _coverage(tuple(sorted(weights)))


@lru_cache(maxsize=64)
def _coverage(weights: tuple[int, ...]) -> Coverage:
    size = effective_n(np.array(weights, dtype=np.int64))
    units = _units(weights)
    whole = sum(units)
    ends = [wilson(Fraction(total, whole), size, LEVEL) or (0.0, 1.0) for total in range(whole + 1)]
    low, high = (np.array(side) for side in zip(*ends, strict=True))
    inside = (low <= _RATES[:, None]) & (_RATES[:, None] <= high)
    held = np.sum(_distribution(units), axis=1, where=inside)
    return Coverage(float(held.min()), float(_RATES[held.argmin()]), float(held.mean()))


def _units(weights: tuple[int, ...]) -> list[int]:
    """Return the weights in the coarsest unit that keeps them, or rounded to `_LARGEST_SUM`."""
    divisor = common_divisor(np.array(weights, dtype=np.int64))
    units = [weight // divisor for weight in weights]
    whole, limit = sum(units), max(_LARGEST_SUM, len(units))
    if whole <= limit:
        return units
    return [max(1, round(weight * limit / whole)) for weight in units]


def _distribution(units: list[int]) -> _Floats:
    """Return P(Σ w x = 0, 1, … Σ w), shape (rates, Σ w + 1), x independent of one rate each.

    By the product of the generating functions 1 − p + p z^w on the unit circle, and back.
    """
    whole = sum(units)
    steps = np.arange((whole + 1) // 2 + 1)
    chance = _RATES[:, None]
    product = np.ones((len(_RATES), len(steps)), dtype=np.complex128)
    for weight, times in Counter(units).items():
        turn = np.exp(-2j * np.pi * (steps * weight % (whole + 1)) / (whole + 1))
        product *= (1 - chance + chance * turn) ** times
    return np.fft.irfft(product, n=whole + 1, axis=1)


def weight_notice(weights: Sequence[int]) -> str | None:
    """Return what to tell of weights that rest on few tasks, None where there is no need.

    `weights` are those of the tasks of one slice, none of which is named: they may be held out. A
    notice is given where the interval of a weighted rate would hold the true rate less than 90 % of
    the time at some rate, and less often than it does for as many tasks of equal weight: smallness
    alone is not the weights' doing.
    """
    values = tuple(weights)
    if equal_weights(values):
        return None
    held = interval_coverage(values)
    if held.least >= LEAST_COVERAGE or held.least >= interval_coverage((1,) * len(values)).least:
        return None
    share = max(values) / sum(values)
    effective = float(effective_n(np.array(values, dtype=np.int64)))
    return (
        f"Few tasks carry the weight: one alone has {_percent(share)} of it, and "
        f"{len(values)} tasks count as {effective:.1f}. With such weights a 95 % interval of a "
        f"weighted rate holds the true rate {_percent(held.mean)} of the time on the mean over all "
        f"rates, but {_percent(held.least)} where the true rate is {held.at:.2f}. Read the "
        "unit-weight rates beside it, or split the heaviest tasks."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
