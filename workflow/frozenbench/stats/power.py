"""What a pack of this size can tell: the smallest rejectable contrast, and the n for a power."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from frozenbench.stats.grid import IntArray, dot

#: The power that `tasks_for_power` is asked for, PROTOCOL 8.
POWER = 0.8

#: Above this many tasks the normal approximation is used as it is. Measured between 1,500 and
#: 2,000, it is within 5 % of the exact n wherever ten or more tasks are discordant.
_EXACT_UP_TO = 2_000

_Counts = npt.NDArray[np.int64]


def first_step(contrasts: int, alpha: float) -> float:
    """Return the level of Holm's first step over that many contrasts: α/m (α of none)."""
    return alpha / max(1, contrasts)


def min_discordant(contrasts: int, alpha: float) -> int:
    """Return the smallest number of discordant tasks, all one way, that Holm's first step rejects.

    All d one way give p = 2^(1−d), the least p of d tasks whatever their weights and repeats; the
    first step rejects where m p ≤ α. Later steps need fewer, but there are none without the first.
    """
    tasks = 1
    while max(1, contrasts) * math.ldexp(1.0, 1 - tasks) > alpha:
        tasks += 1
    return tasks


def cannot_confirm(discordant: int, tasks: int) -> bool:
    """Tell whether no contrast can be rejected, and so no flip confirmed, whatever the agents do.

    So it is where `discordant` (`min_discordant`) exceeds all `tasks`. More than half of them is
    no such proof: the two contrasts of a flip may differ on the same tasks.
    """
    return discordant > tasks


def few_tasks(discordant: int, tasks: int) -> bool:
    """Tell whether `tasks` are few: a rejection by Holm's first step takes more than half of them.

    It is possible there, unless `cannot_confirm` holds: one of the two at most.
    """
    return tasks < 2 * discordant and not cannot_confirm(discordant, tasks)


def clearness(differences: IntArray) -> Fraction:
    """Return (Σ s)² / Σ s², the square of a contrast's z under no difference; 0 where all are 0."""
    squares = dot(differences, differences)
    return Fraction(int(differences.sum()) ** 2, squares) if squares else Fraction(0)


def tasks_for_power(differences: IntArray, level: float, power: float = POWER) -> int | None:
    """Return how many tasks like these would show this contrast with `power`, None if Σ s = 0.

    `differences` are s_t of all tasks, zeros too; `level` is that of a single two-sided test.
    Where all |s_t| > 0 are of one size, whatever weights and repeats made them: the n, found by
    bisection, from which the exact McNemar test of n tasks that fall one way, the other way or
    neither with the observed shares rejects in the observed direction with `power`. Otherwise, and
    above 2,000 tasks, the normal approximation of Connor (1987, Biometrics 43, 207–211) with the
    observed mean and second moment of s.
    """
    total = int(differences.sum())
    if total == 0:
        return None
    approximate = _connor(differences, level, power)
    if not _one_size(differences) or approximate > _EXACT_UP_TO:
        return approximate
    sign = 1 if total > 0 else -1
    ahead = int(np.count_nonzero(differences * sign > 0))
    behind = int(np.count_nonzero(differences)) - ahead
    return _exact_tasks(ahead, behind, len(differences), level, power, approximate)


def _one_size(differences: IntArray) -> bool:
    return len(np.unique(np.abs(differences[differences != 0]))) == 1


def _connor(differences: IntArray, level: float, power: float) -> int:
    n = len(differences)
    mean = abs(int(differences.sum())) / n
    second = dot(differences, differences) / n
    normal = NormalDist()
    null = normal.inv_cdf(1 - level / 2) * math.sqrt(second)
    other = normal.inv_cdf(power) * math.sqrt(max(0.0, second - mean**2))
    return max(1, math.ceil(((null + other) / mean) ** 2))


@lru_cache(maxsize=1 << 16)
def _exact_tasks(ahead: int, behind: int, n: int, level: float, power: float, guess: int) -> int:
    def enough(tasks: int) -> bool:
        return _power(tasks, ahead / n, behind / n, level) >= power

    return _first(enough, guess)


def _first(enough: Callable[[int], bool], guess: int) -> int:
    """Return the smallest n ≥ 1 with `enough(n)`, for what holds from some n on, near `guess`."""
    step = max(2, guess // 32)
    high = guess
    while not enough(high):
        high += step
        step *= 2
    low, step = max(0, high - max(2, guess // 32)), max(2, guess // 32)
    while low > 0 and enough(low):
        high, low, step = low, max(0, low - step), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _power(n: int, ahead: float, behind: float, level: float) -> float:
    """Return P(exact McNemar rejects, in the direction of `ahead`) of n independent tasks.

    Summed over the numbers of discordant tasks within nine standard deviations of the expected one;
    the rest holds less than 1e-15.
    """
    from scipy.special import bdtr, gammaln, xlog1py, xlogy  # late: they take time to import

    share = min(1.0, ahead + behind)
    reach = 9 * math.sqrt(n * share * (1 - share)) + 9
    lowest, highest = max(1, int(n * share - reach)), min(n, int(n * share + reach))
    d = np.arange(lowest, highest + 1)
    ways = gammaln(n + 1) - gammaln(d + 1) - gammaln(n - d + 1)
    held = np.exp(ways + xlogy(d, share) + xlog1py(n - d, -share))
    allowed = _allowed(level, _power_of_two(highest))[d]
    rejected = np.where(
        allowed < 0, 0.0, bdtr(np.maximum(allowed, 0), d, behind / (ahead + behind))
    )
    return float(np.sum(held * rejected))


def _power_of_two(number: int) -> int:
    return 1 << max(8, (number - 1).bit_length())


@lru_cache(maxsize=64)
def _allowed(level: float, up_to: int) -> _Counts:
    """Return for d = 0..`up_to` discordant tasks the most that may fall behind, −1 if none may.

    The largest j with 2 P(X ≤ j) ≤ `level`, X binomial of d and 1/2.
    """
    from scipy.special import bdtr
    from scipy.stats import binom

    d = np.arange(up_to + 1)
    allowed: _Counts = np.nan_to_num(np.asarray(binom.ppf(level / 2, d, 0.5))).astype(np.int64)
    allowed -= 2 * bdtr(np.maximum(allowed, 0), np.maximum(d, 1), 0.5) > level
    allowed[0] = -1
    return allowed
