"""The area under an agent's curve over log budget: a summary that belongs to no single budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from frozenbench.stats.grid import IntArray
from frozenbench.stats.intervals import LEVEL, effective_n, wilson

#: Decimals that are kept: a logarithm's last bits differ between machines.
_DECIMALS = 12


def area_weights(caps: Sequence[float]) -> list[float] | None:
    """Return the share of each cap in the mean over log budget; they add up to 1.

    `caps` rise and are > 0. Between two caps the curve is taken as straight over the logarithm
    (the trapezoid rule), and the whole is divided by log(last / first): so a rate that is the same
    under every budget is its own area. None of fewer than two different caps.
    """
    if len(caps) < 2 or caps[0] == caps[-1]:
        return None
    places = [math.log2(cap / caps[0]) for cap in caps]
    shares = [0.0] * len(caps)
    for left in range(len(caps) - 1):
        half = (places[left + 1] - places[left]) / (2 * places[-1])
        shares[left] += half
        shares[left + 1] += half
    return shares


def area(
    totals: Sequence[int], whole: int, shares: Sequence[float], weights: IntArray
) -> tuple[float, float, float]:
    """Return the area of one agent with its 95 % interval.

    `totals` are Σ w k under the budgets of the ladder, `whole` is Σ w × repeats. A task's own area
    lies in [0, 1], so its variance is at most that of a task that is solved under every budget or
    under none; Wilson's interval at the effective number of tasks therefore covers at least as well
    as for one rate, and is wider than it need be.
    """
    value = math.fsum(share * total for share, total in zip(shares, totals, strict=True)) / whole
    value = round(min(1.0, value), _DECIMALS)
    low, high = wilson(Fraction(value), effective_n(weights), LEVEL) or (0.0, 1.0)
    return value, low, high
