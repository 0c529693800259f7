"""Intervals of one rate (Wilson) and of the difference of two paired rates (Tango, bootstrap)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from frozenbench.stats.grid import IntArray

#: Confidence of every interval. It is not `statistics.alpha`, which is the error of the tests.
LEVEL = 0.95

#: Contrasts with fewer discordant tasks get no interval (PROTOCOL 8).
MIN_DISCORDANT_FOR_INTERVAL = 10


def effective_n(weights: IntArray) -> Fraction:
    """Return (Σ w)² / Σ w² over tasks (Kish), 0 of no task; repeats do not multiply it."""
    values = [int(weight) for weight in weights]
    return Fraction(sum(values) ** 2, sum(value**2 for value in values)) if values else Fraction(0)


def wilson(rate: Fraction | None, n: Fraction, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Wilson's score interval of `rate` at effective sample size `n`, None of 0/0.

    Source: Wilson 1927, JASA 22, 209–212. The lower end of rate 0 is 0 and the upper end of rate
    1 is 1, exactly; both lie in [0, 1].
    """
    if rate is None or n <= 0:
        return None
    size, share = float(n), float(rate)
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    middle = share + z2 / (2 * size)
    half = math.sqrt(z2 * (float(rate * (1 - rate)) / size + z2 / (4 * size**2)))
    # The lower root by the product of the roots: the difference would cancel at small rates.
    high = 1.0 if rate == 1 else min(1.0, (middle + half) / (1 + z2 / size))
    return share**2 / (middle + half), high


def tango_score(delta: float, only_a: int, only_b: int, n: int) -> float:
    """Return Tango's score statistic of the hypothesis p_A − p_B = `delta`, −1 < delta < 1.

    `only_a` and `only_b` are the tasks (of n) that A alone and B alone solved. The variance under
    the hypothesis is n (2 q + δ (1 − δ)), with q the restricted maximum-likelihood share of tasks
    that B alone solves. Source: Tango 1998, Statistics in Medicine 17, 891–908.
    """
    linear = -(only_a + only_b) + (2 * n - only_a + only_b) * delta
    constant = -only_b * delta * (1 - delta)
    root = math.sqrt(max(0.0, linear**2 - 8 * n * constant))
    # The larger root of 2n q² + linear q + constant, in the form that does not cancel.
    share = (root - linear) / (4 * n) if linear <= 0 else -2 * constant / (root + linear)
    variance = n * (2 * max(0.0, -delta, share) + delta * (1 - delta))
    distance = only_a - only_b - n * delta
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


@lru_cache(maxsize=1 << 16)
def tango(only_a: int, only_b: int, n: int, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Tango's score interval of the paired difference p_A − p_B, None of 0/0.

    The ends are the δ at which the score equals ±z, to the last bit by bisection (the score falls
    with δ); they are −1 and 1 where the data allow no more.
    """
    if n <= 0:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    estimate = (only_a - only_b) / n

    def score(delta: float) -> float:
        return tango_score(delta, only_a, only_b, n)

    low = -1.0 if only_b == n else _falling_root(lambda d: score(d) - z, -1.0, estimate)
    high = 1.0 if only_a == n else _falling_root(lambda d: score(d) + z, estimate, 1.0)
    return low, high


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where `function`, positive at `low` and negative at `high`, changes its sign."""
    while low < (middle := (low + high) / 2) < high:
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
