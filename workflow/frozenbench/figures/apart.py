"""Marks that would hide each other, set side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

#: Inches between the centres of two marks, and between two intervals beside each other.
_MARKS, _BARS = 0.078, 0.03
#: Inches that a mark moves at the most; rounds after which the rest is left as it is.
_MOST, _ROUNDS = 0.25, 400
#: Inches that may lack after the last round.
_ENOUGH = 0.006


@dataclass(frozen=True)
class Spot:
    """A mark of a series with its interval from `top` to `bottom`; inches, y downwards."""

    series: str
    x: float
    y: float
    top: float
    bottom: float

    def needs(self, other: Spot) -> float:
        """Return how far apart, sideways, two marks of different series stand clear."""
        across = math.sqrt(max(0.0, _MARKS**2 - (self.y - other.y) ** 2))
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, _BARS if shared > 0 else 0.0)


def set_apart(spots: Sequence[Spot], low: float, high: float) -> tuple[list[float], bool]:
    """Return x of each spot, moved sideways as far as needed, and whether all stand clear.

    Marks of different series neither cover each other nor lie on each other's intervals; they keep
    their order from left to right, those of equal x the order of `spots`, and stay between `low`
    and `high`.
    """
    order = sorted(range(len(spots)), key=lambda place: spots[place].x)
    pairs = [
        (one, other, spots[one].needs(spots[other]))
        for one, other in combinations(order, 2)
        if spots[one].series != spots[other].series
        and spots[other].x - spots[one].x < 2 * _MOST + _MARKS
    ]
    pairs = [pair for pair in pairs if pair[2] > 0]
    found = [spot.x for spot in spots]
    for _ in range(_ROUNDS):
        worst = 0.0
        for one, other, need in pairs:
            lacking = need - (found[other] - found[one])
            if lacking > 1e-9:
                worst = max(worst, lacking)
                found[one] -= lacking / 2
                found[other] += lacking / 2
        for place, spot in enumerate(spots):
            near = max(spot.x - _MOST, low), min(spot.x + _MOST, high)
            found[place] = min(max(found[place], near[0]), near[1])
        if worst < _ENOUGH / 4:
            break
    clear = all(found[other] - found[one] >= need - _ENOUGH for one, other, need in pairs)
    return found, clear
