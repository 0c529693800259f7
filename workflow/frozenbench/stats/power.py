"""What a pack of this size can tell: the smallest rejectable contrast, and the n for a power."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from frozenbench.stats.grid import IntArray

#: The power that `tasks_for_power` is asked for, PROTOCOL 8.
POWER = 0.8

#: Above this many tasks the normal approximation is used as it is.
_EXACT_UP_TO = 20_000


def first_step(contrasts: int, alpha: float) -> float:
    """Return the level of Holm's first step over that many contrasts: α/m (α of none)."""
    return alpha / max(1, contrasts)


def min_discordant(contrasts: int, alpha: float) -> int:
    """Return the smallest number of discordant tasks, all one way, that could be rejected.

    All d one way give p = 2^(1−d) whatever their weights and repeats; Holm's first step rejects
    where m p ≤ α.
    """
    tasks = 1
    while max(1, contrasts) * math.ldexp(1.0, 1 - tasks) > alpha:
        tasks += 1
    return tasks


def cannot_confirm(discordant: int, tasks: int) -> bool:
    """Tell whether a pack cannot confirm a flip: `discordant` exceeds half of its tasks."""
    return 2 * discordant > tasks


def clearness(differences: IntArray) -> Fraction:
    """Return (Σ s)² / Σ s², the square of a contrast's z under no difference; 0 where all are 0."""
    values = [int(value) for value in differences[differences != 0]]
    squares = sum(value**2 for value in values)
    return Fraction(sum(values) ** 2, squares) if squares else Fraction(0)


def tasks_for_power(
    differences: IntArray, unit: bool, level: float, power: float = POWER
) -> int | None:
    """Return how many tasks like these would show this contrast with `power`, None if Σ s = 0.

    `differences` are s_t of all tasks, zeros too; `level` is that of a single two-sided test.
    `unit` (one size of |s|): the smallest n, found by bisection, at which the exact McNemar test
    of n tasks that fall one way, the other way or neither with the observed shares rejects in the
    observed direction with `power`. Otherwise, and above 20,000 tasks, the normal approximation
    of Connor (1987, Biometrics 43, 207–211) with the observed mean and second moment of s.
    """
    n, total = len(differences), abs(int(differences.sum()))
    if total == 0:
        return None
    approximate = _connor(differences, level, power)
    if not unit or approximate > _EXACT_UP_TO:
        return approximate
    sign = 1 if int(differences.sum()) > 0 else -1
    ahead = int(np.count_nonzero(differences * sign > 0))
    behind = int(np.count_nonzero(differences * sign < 0))
    low, high = 0, approximate
    while _power(high, ahead / n, behind / n, level) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _power(middle, ahead / n, behind / n, level) < power:
            low = middle
        else:
            high = middle
    return high


def _connor(differences: IntArray, level: float, power: float) -> int:
    n = len(differences)
    mean = abs(int(differences.sum())) / n
    second = sum(int(value) ** 2 for value in differences) / n
    normal = NormalDist()
    null = normal.inv_cdf(1 - level / 2) * math.sqrt(second)
    other = normal.inv_cdf(power) * math.sqrt(max(0.0, second - mean**2))
    return max(1, math.ceil(((null + other) / mean) ** 2))


def _power(n: int, ahead: float, behind: float, level: float) -> float:
    """Return P(exact McNemar rejects, in the direction of `ahead`) of n independent tasks."""
    from scipy.stats import binom  # here alone: half a second to import

    discordant = np.arange(1, n + 1)
    share = binom.pmf(discordant, n, min(1.0, ahead + behind))
    # The largest count behind with which d discordant tasks are rejected, −1 if none.
    allowed = np.asarray(binom.ppf(level / 2, discordant, 0.5)).astype(np.int64)
    allowed -= 2 * binom.cdf(allowed, discordant, 0.5) > level
    rejected = binom.cdf(allowed, discordant, behind / (ahead + behind))
    return float(np.sum(share * rejected))
