"""What few heavy tasks do to the interval of a rate, exactly; beside it an interval not used."""

from __future__ import annotations

from typing import Any

import numpy as np
from frozenbench.stats.concentration import weight_notice
from frozenbench.stats.intervals import effective_n
from rate_coverage import GRID, wilson_ends
from simulated_worlds import Floats, Ints

#: Rates among which the ends of the exact interval are looked for.
_FINE = np.arange(1, 500) / 500


def heavy_weights(tasks: int, heavy: int, share: float) -> Ints:
    """Return weights 1 and, last, those of so many tasks that hold about `share` together."""
    weight = max(1, round(share / (1 - share) * (tasks - heavy) / heavy))
    return np.array([1] * (tasks - heavy) + [weight] * heavy, dtype=np.int64)


def distributions(weights: Ints, rates: Floats) -> Floats:
    """Return P(Σ w x = 0 … Σ w) for each rate, by convolution task by task."""
    found = np.zeros((len(rates), int(weights.sum()) + 1))
    found[:, 0] = 1.0
    for weight in weights.tolist():
        moved = np.zeros_like(found)
        moved[:, weight:] = found[:, :-weight]
        found = (1 - rates)[:, None] * found + rates[:, None] * moved
    return found


def mid_p_ends(weights: Ints) -> tuple[Floats, Floats]:
    """Return the ends of the mid-p interval of a rate for each Σ w x: it is not used.

    The rates at which P(more) + P(as much) / 2, and P(less) + P(as much) / 2, are 2.5 %. Source:
    Lancaster 1961, JASA 56, 223-234; here of a weighted sum.
    """
    chance = distributions(weights, _FINE)
    less = np.cumsum(chance, axis=1) - chance / 2
    inside = (less >= 0.025) & (1 - less >= 0.025)
    low = np.where(inside.any(axis=0), _FINE[inside.argmax(axis=0)], 0.0)
    high = np.where(inside.any(axis=0), _FINE[len(_FINE) - 1 - inside[::-1].argmax(axis=0)], 1.0)
    low[0], high[-1] = 0.0, 1.0
    # Outward by a step, so that the grid makes no interval narrower than it is.
    return np.maximum(0.0, low - 1 / 500), np.minimum(1.0, high + 1 / 500)


def row(tasks: int, heavy: int, share: float) -> Any:
    """Return one row of weights.csv."""
    weights = heavy_weights(tasks, heavy, share)
    chance = distributions(weights, GRID)
    found: dict[str, Any] = {
        "tasks": tasks,
        "heavy_tasks": heavy,
        "largest_share": float(weights[-1] / weights.sum()),
        "effective_n": float(effective_n(weights)),
    }
    for name, (low, high) in (("wilson", wilson_ends(weights)), ("mid_p", mid_p_ends(weights))):
        inside = (low <= GRID[:, None]) & (GRID[:, None] <= high)
        held = np.sum(chance, axis=1, where=inside)
        found |= {
            f"{name}_mean": float(held.mean()),
            f"{name}_least": float(held.min()),
            f"{name}_least_at": float(GRID[held.argmin()]),
            f"{name}_width": float((chance @ (high - low)).mean()),
        }
    return found | {"notice": weight_notice(weights.tolist()) is not None}


def rows(worlds: int) -> list[Any]:
    """Return all rows of weights.csv: exact, whatever `worlds` is."""
    del worlds
    found = [
        row(tasks, heavy, share)
        for tasks in (24, 60, 120, 250, 500)
        for heavy in (1, 2, 4)
        for share in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
    ]
    # Small shares of few tasks round to one weight, or to none that is heavy.
    return [
        one
        for place, one in enumerate(found)
        if one["largest_share"] > 1.5 / one["tasks"] and one not in found[:place]
    ]
