"""Ranks with shared ties (1, 2, 2, 4) in exact arithmetic, and their intervals from resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from frozenbench.stats.grid import IntArray
from frozenbench.stats.resample import central

_Floats = npt.NDArray[np.float64]


def shared_ranks(scores: Sequence[int]) -> list[int]:
    """Return the rank of each score, 1 for the highest; equal scores share the better rank.

    Scores are integers over one common denominator (Σ w k), so that ties are ties.
    """
    return [1 + sum(other > score for other in scores) for score in scores]


def rank_intervals(totals: _Floats, observed: Sequence[int], level: float) -> list[tuple[int, int]]:
    """Return the central `level` interval of each agent's rank over resamples.

    `totals` has shape (A, R): whole numbers Σ w k of each agent in each resample. Ranks share
    ties in each resample. The ends are order statistics, so they are ranks; where resampling
    breaks ties that the tasks themselves have, the observed rank can fall outside, and the
    interval is widened to hold it.
    """
    ranks = np.ones(totals.shape, dtype=np.int64)
    for other in totals:
        ranks += other > totals
    found: list[tuple[int, int]] = []
    for agent, rank in zip(ranks, observed, strict=True):
        low, high = central(agent, level)
        found.append((min(int(low), rank), max(int(high), rank)))
    return found


def order_differs(weighted: IntArray, unit: IntArray) -> bool:
    """Tell whether two agents, (2,) totals each, stand in another order under unit weights."""
    return bool(np.sign(weighted[0] - weighted[1]) != np.sign(unit[0] - unit[1]))
