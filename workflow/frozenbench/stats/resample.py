"""Resamples of tasks: one index matrix for every rank interval, support and band of a slice.

Only the raw 64-bit stream of PCG64 is used, which NumPy keeps stable, and whole numbers below
2^53 are summed, which float64 does exactly in any order: the same digest gives the same numbers
with any NumPy, any BLAS and any number of cores.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from frozenbench.canonical import BadInput
from frozenbench.stats.grid import IntArray

_Floats = npt.NDArray[np.float64]

#: Resamples counted at a time: bounds memory, changes no number.
_BLOCK = 1000


def index_matrix(seed: str, resamples: int, tasks: int) -> npt.NDArray[np.uint32]:
    """Return the tasks drawn with replacement, shape (resamples, tasks), entries in 0..tasks − 1.

    `seed` is the experiment digest (hex). An index is floor(u · tasks / 2^32) of the upper 32 bits
    u of one draw; its bias is below tasks / 2^32.
    """
    raw = np.random.PCG64(int(seed, 16)).random_raw(resamples * tasks)
    draws = (np.asarray(raw, dtype=np.uint64) >> np.uint64(32)) * np.uint64(tasks)
    return (draws >> np.uint64(32)).astype(np.uint32).reshape(resamples, tasks)


def resampled_totals(index: npt.NDArray[np.uint32], values: IntArray) -> _Floats:
    """Return Σ values over the tasks of each resample, shape (columns, resamples).

    `values` has shape (columns, tasks) and holds integers ≥ 0; the sums are exact.

    Raises:
        BadInput: a sum could reach 2^53.
    """
    resamples, tasks = index.shape
    if int(values.max(initial=0)) * tasks >= 2**53:
        raise BadInput(
            "pack.jsonl: weight: the weights are too large for exact sums; "
            "cure: give weights in coarser units"
        )
    transposed = np.ascontiguousarray(values.T, dtype=np.float64)
    totals = np.empty((values.shape[0], resamples), dtype=np.float64)
    for start in range(0, resamples, _BLOCK):
        block = index[start : start + _BLOCK]
        rows = np.arange(len(block), dtype=np.int64)[:, None] * tasks
        counts = np.bincount((rows + block).ravel(), minlength=len(block) * tasks)
        drawn = counts.reshape(len(block), tasks).astype(np.float64)
        totals[:, start : start + _BLOCK] = (drawn @ transposed).T
    return totals


def support(first: _Floats, second: _Floats, old_sign: int) -> Fraction:
    """Return the share of resamples in which the signs of both differences equal the observed ones.

    `first` and `second` are the exact differences A − B under the two budgets of a crossing, shape
    (R,); `old_sign` is the observed sign under the first, −`old_sign` that under the second.
    """
    agree = np.count_nonzero((first * old_sign > 0) & (second * old_sign < 0))
    return Fraction(int(agree), len(first))


def central(values: npt.NDArray[np.generic], level: float) -> tuple[float, float]:
    """Return the ends of the central `level` share of `values`, as order statistics.

    As many values are cut off below as above: floor(R (1 − level)/2) of each.
    """
    cut = int(len(values) * (1 - Fraction(str(level))) / 2)
    ordered = np.partition(values, [cut, len(values) - 1 - cut])
    return float(ordered[cut]), float(ordered[len(values) - 1 - cut])
