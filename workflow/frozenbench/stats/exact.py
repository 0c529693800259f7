"""The exact two-sided sign-flip test of a contrast, by convolution over integers (PROTOCOL 8).

p = P(|Σ ±s_t| ≥ |Σ s_t|) over all 2^m equally likely signs of the m tasks with s_t ≠ 0.
With U = Σ |s_t| and X the sum of the |s_t| that get a plus, Σ ±s_t = 2X − U, and X is
symmetric about U/2; so p = 2 P(X ≤ h), h = (U − |Σ s_t|)/2, an integer. The counts of subsets
by their sum are the coefficients of Π (1 + x^|s_t|), of which only those up to h are needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from frozenbench.canonical import BadInput
from frozenbench.stats.grid import IntArray, common_divisor

#: No p is given below this (about 9e-302): where the exact one is smaller, this bounds it.
SMALLEST_P = 2.0**-1000

#: Discordant tasks up to which 2^m fits in an int64 with room for a sum.
_INTEGER_TASKS = 62

#: The longest array of the convolution, 160 MB; beyond it weights are in absurdly fine units.
_LONGEST = 20_000_000

#: Steps between two rescalings; 2^512 is far from the largest float64.
_RESCALE_EVERY = 512

#: The sizes |s_t| as (size, how many), ascending, with greatest common divisor 1.
Multiset = tuple[tuple[int, int], ...]


def sign_flip_p(differences: Sequence[int] | IntArray) -> float:
    """Return the two-sided exact sign-flip p of integers s_t = w_t (k_A − k_B).

    At weight 1 and one repeat this is the exact McNemar test. The result depends on the
    multiset of |s_t| and on |Σ s_t| alone; it lies in [2^-1000, 1] and is 1 where Σ s_t = 0.

    Precision: the correctly rounded exact value where all |s_t| are equal (any number of tasks)
    or where at most 62 tasks are discordant (integer arithmetic). Otherwise float64, rounded up
    by its proven bound: never below the exact p, and above it by a share of at most
    (m + 4) 2^-51, 2.3e-13 at m = 500 discordant tasks (where p > 1e-280).

    Raises:
        BadInput: the weights are in units so fine that the convolution does not fit in memory.
    """
    values = np.asarray(differences, dtype=np.int64)
    sizes = np.abs(values[values != 0])
    total = abs(int(values.sum()))
    if total == 0:
        return 1.0
    divisor = common_divisor(sizes)
    found, counts = np.unique(sizes // divisor, return_counts=True)
    multiset = tuple(zip(found.tolist(), counts.tolist(), strict=True))
    return _two_sided(multiset, total // divisor)


@lru_cache(maxsize=1 << 16)
def _two_sided(multiset: Multiset, total: int) -> float:
    """Return p for the sizes of `multiset` and |Σ s_t| = `total` > 0."""
    tasks = sum(count for _, count in multiset)
    below = (sum(size * count for size, count in multiset) - total) // 2
    if multiset == ((1, tasks),):
        p = 2 * _binomial_tail(tasks, below) / 2**tasks
    elif tasks <= _INTEGER_TASKS:
        p = 2 * sum(_subset_counts(multiset, below, np.int64).tolist()) / 2**tasks
    else:
        # Each of the m additions behind a coefficient rounds once, fsum rounds once, and all terms
        # are positive: the relative error is below (m + 2) 2^-53. Underflow loses less than
        # m h 2^-1075 in all, which SMALLEST_P outweighs.
        terms = _subset_counts(multiset, below, np.float64).tolist()
        p = 2 * math.ldexp(math.fsum(terms), -(tasks % _RESCALE_EVERY))
        p = p * (1 + (tasks + 2) * 2.0**-52) + SMALLEST_P
    return float(min(1.0, max(p, SMALLEST_P)))


def _binomial_tail(tasks: int, below: int) -> int:
    """Return Σ C(tasks, j) over j ≤ `below`, an exact integer."""
    term, tail = 1, 1
    for j in range(below):
        term = term * (tasks - j) // (j + 1)
        tail += term
    return tail


def _subset_counts(
    multiset: Multiset, below: int, dtype: type[np.int64] | type[np.float64]
) -> npt.NDArray[Any]:
    """Count the subsets of `multiset` by their sum, for the sums 0..`below`.

    Floats come back divided by 2^512 for each full 512 tasks, so that none overflows.
    """
    if below >= _LONGEST:
        raise BadInput(
            f"pack.jsonl: weight: on the tasks where two agents differ the weights reach {below}, "
            f"too much for an exact test (limit {_LONGEST}); cure: give weights in coarser units"
        )
    counts: npt.NDArray[Any] = np.zeros(below + 1, dtype=dtype)
    counts[0] = 1
    reach = steps = 0
    for size, times in multiset:
        for _ in range(times):
            steps += 1
            if size <= below:
                reach = min(below, reach + size)
                counts[size : reach + 1] += counts[: reach + 1 - size]
            if steps % _RESCALE_EVERY == 0 and dtype is np.float64:
                counts *= 2.0**-_RESCALE_EVERY
    return counts
