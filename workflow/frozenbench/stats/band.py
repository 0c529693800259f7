"""A band that holds for many contrasts at once (max-T), to be looked at: nothing is decided by it.

Source: Westfall and Young, Resampling-Based Multiple Testing, Wiley 1993; as a band for a curve:
Montiel Olea and Plagborg-Møller, Journal of Applied Econometrics 34 (2019) 1–17.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from frozenbench.stats.grid import IntArray, common_divisor, dot

_Floats = npt.NDArray[np.float64]


def standard_error(differences: IntArray, weights: IntArray, repeats: int) -> float:
    """Return the standard error of Δ = Σ s / (r Σ w) when tasks are drawn with their weights.

    That of a ratio of two sums over tasks: √Σ (s_t − r Δ w_t)² / (r Σ w), the residuals as exact
    integers and one division at the end, so that every machine gives the same number. Source:
    W. G. Cochran, Sampling Techniques, Wiley 1977, 2.11, without the factor n / (n − 1).
    """
    unit = common_divisor(weights)  # so that weights in finer units give the same bits
    weights, differences = weights // unit, differences // unit
    whole, total = int(weights.sum()), int(differences.sum())
    # Σ (s W − S w)², multiplied out.
    squares = whole**2 * dot(differences, differences) - 2 * whole * total * dot(
        differences, weights
    )
    squares += total**2 * dot(weights, weights)
    return math.sqrt(squares) / (repeats * whole**2)


class MaxT:
    """The largest |Δ* − Δ| / se over contrasts, resample by resample, held without the contrasts."""

    def __init__(self, resamples: int) -> None:
        self._largest: _Floats = np.zeros(resamples)
        self._any = False

    def add(self, resampled: _Floats, delta: float, error: float) -> None:
        """Take in a contrast: its differences in the resamples (R,), as seen, and its error > 0."""
        np.maximum(self._largest, np.abs(resampled - delta) / error, out=self._largest)
        self._any = True

    def critical(self, level: float) -> float | None:
        """Return the half width in standard errors that `level` of the resamples stay within.

        An order statistic, the ⌈level R⌉-th; None if no contrast was taken in.
        """
        if not self._any:
            return None
        place = math.ceil(round(level * len(self._largest), 6)) - 1
        return float(np.partition(self._largest, place)[place])
