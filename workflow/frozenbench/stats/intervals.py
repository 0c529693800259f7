"""Intervals of one rate (Wilson) and of the difference of two paired rates (Tango)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from frozenbench.stats.grid import IntArray, common_divisor, dot

#: Confidence of every interval. It is not `statistics.alpha`, which is the error of the tests.
LEVEL = 0.95

#: Contrasts with fewer discordant tasks get no interval (PROTOCOL 8).
MIN_DISCORDANT_FOR_INTERVAL = 10

#: Points between the estimate and an edge at which the adjusted score is looked at first.
_LOOKS = 32


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


def tango_score(delta: float, only_a: float, only_b: float, n: float) -> float:
    """Return Tango's score statistic of the hypothesis p_A − p_B = `delta`, −1 < delta < 1.

    `only_a` and `only_b` are the tasks (of n) that A alone and B alone solved, whole numbers or
    effective ones. The variance under the hypothesis is n (2 q + δ (1 − δ)), with q the restricted
    maximum-likelihood share of tasks that B alone solves. Source: Tango 1998, Statistics in
    Medicine 17, 891–908.
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


@dataclass(frozen=True)
class _Shares:
    """What the adjusted score needs of d_t = s_t / (r w_t), the difference of one task.

    Attributes:
        ahead: Σ w max(d, 0) / Σ w.
        behind: Σ w max(−d, 0) / Σ w; Δ is `ahead` − `behind`.
        size: the effective number of tasks, 1 / `weights`.
        squares: Σ w² d² / (Σ w)².
        sizes: Σ w² |d| / (Σ w)².
        products: Σ w² d / (Σ w)².
        weights: Σ w² / (Σ w)².
        repeats: r.
    """

    ahead: float
    behind: float
    size: float
    squares: float
    sizes: float
    products: float
    weights: float
    repeats: int

    def score(self, delta: float) -> float:
        """Return Tango's score at the effective counts over the root of the design effect."""
        ahead, behind = self.ahead, self.behind
        plain = tango_score(delta, ahead * self.size, behind * self.size, self.size)
        moment = ahead + behind - 2 * delta * (ahead - behind) + delta**2
        around = delta**2 * self.weights - 2 * delta * self.products
        # r repeats can make a task's variance 1/r of that of one run, and no less.
        found = max(self.squares + around, (self.sizes + around) / self.repeats)
        if moment <= 0 or found <= 0:
            return math.copysign(math.inf, plain) if plain else 0.0
        return plain * math.sqrt(moment / (found * self.size))


def adjusted_tango(
    differences: IntArray, weights: IntArray, repeats: int, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the score interval of a weighted or repeated paired difference Δ, None of no task.

    `differences` are s_t = w_t (k_A − k_B) of all tasks, zeros too. With shares of weight in the
    place of shares of tasks and the effective n in the place of n, Tango's score is divided by
    √D(δ), D(δ) = [Σ w² (d − δ)² / (Σ w)²] / [(E|d| − 2 δ Δ + δ²) / n]: the second moment about δ as
    the tasks show it, over that of tasks that fall one way, the other way or neither. At equal
    weights and one repeat D is 1 and this is Tango's interval; at δ = 0 the quotient is
    Σ s / √Σ s², the normal form of the exact sign-flip test. The numerator of D is at least
    Σ w² (|d| − 2 δ d + δ²) / (r (Σ w)²): a few tasks that all differ by one repeat alike do not show
    that every task does. Source of dividing a score by the root of a design effect: Rao and Scott
    1987, Annals of Statistics 15, 385–397.

    The ends are the δ farthest from Δ at which the score is within ±z. Where a few tasks carry
    nearly all the weight the score need not fall all the way: what lies between is held too.
    """
    if len(weights) == 0:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    shares = _shares(differences, weights, repeats)
    estimate = shares.ahead - shares.behind
    low = -1.0 if shares.behind == 1 else _farthest(shares, z, estimate, -1.0)
    high = 1.0 if shares.ahead == 1 else _farthest(shares, z, estimate, 1.0)
    return low, high


def _shares(differences: IntArray, weights: IntArray, repeats: int) -> _Shares:
    """Return them, each as one division of exact integers."""
    unit = common_divisor(weights)  # so that weights in finer units give the same bits
    weights, differences = weights // unit, differences // unit
    tasks = int(weights.sum())
    whole = tasks * repeats
    return _Shares(
        ahead=int(differences[differences > 0].sum()) / whole,
        behind=-int(differences[differences < 0].sum()) / whole,
        size=tasks**2 / dot(weights, weights),
        squares=dot(differences, differences) / whole**2,
        sizes=dot(np.abs(differences), weights) / (whole * tasks),
        products=dot(differences, weights) / (whole * tasks),
        weights=dot(weights, weights) / tasks**2,
        repeats=repeats,
    )


def _farthest(shares: _Shares, z: float, estimate: float, edge: float) -> float:
    """Return the δ between the estimate and an edge, the farthest one whose score is within ±z."""
    inside, outside = estimate, edge
    for look in range(1, _LOOKS):
        point = estimate + (edge - estimate) * look / _LOOKS
        if abs(shares.score(point)) <= z:
            inside, outside = point, edge
        elif outside == edge:
            outside = point
    while min(inside, outside) < (middle := (inside + outside) / 2) < max(inside, outside):
        if abs(shares.score(middle)) <= z:
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2
