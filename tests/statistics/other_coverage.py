"""What rank intervals, areas and the band hold: they are shown, and nothing is decided by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from frozenbench.stats.compare import Settings, compare
from frozenbench.stats.grid import Grid
from frozenbench.stats.intervals import LEVEL
from frozenbench.stats.ranks import rank_intervals, shared_ranks
from frozenbench.stats.resample import index_matrix, resampled_totals
from simulated_worlds import CORRELATED, draw_passes, standard_error, weights_of

RESAMPLES = 1000
CAPS = {name: {"max_tool_calls": cap} for name, cap in zip("wxyz", (1, 2, 4, 8), strict=True)}

#: By name; agents of equal rates share their true rank.
RANKED = {
    "apart": [[0.2], [0.4], [0.6]],
    "close": [[0.40], [0.42], [0.45]],
    "two tie": [[0.3], [0.3], [0.5]],
}


def rank_row(profile: str, tasks: int, pattern: str, worlds: int) -> Any:
    """Return the share of agents whose rank interval holds the true rank."""
    weights = weights_of(pattern, tasks)
    passes = draw_passes(RANKED[profile], tasks, worlds, (tasks, len(profile)), CORRELATED)
    index = index_matrix(f"{tasks:x}", RESAMPLES, tasks)
    drawn = resampled_totals(index, (passes * weights).reshape(-1, tasks))
    totals = drawn.reshape(worlds, 3, RESAMPLES)
    true = shared_ranks([round(1000 * rates[0]) for rates in RANKED[profile]])
    hits = []
    for world, held in zip(passes, totals, strict=True):
        observed = shared_ranks((world[:, 0] @ weights).tolist())
        ends = rank_intervals(held, observed, LEVEL)
        hits += [low <= rank <= high for (low, high), rank in zip(ends, true, strict=True)]
    return _row("rank", profile, tasks, pattern, worlds, hits)


def curve_rows(tasks: int, pattern: str, worlds: int) -> list[Any]:
    """Return what areas and the band hold, of three agents on a ladder of four budgets."""
    rates = np.array([[0.42] * 4, [0.13, 0.26, 0.50, 0.74], [0.05, 0.1, 0.1, 0.2]])
    passes = draw_passes(rates, tasks, worlds, (tasks, 9), CORRELATED)
    weights = weights_of(pattern, tasks)
    names = tuple(f"t{number:03}" for number in range(tasks))
    areas = rates @ np.array([1, 2, 2, 1]) / 6
    covered: dict[str, list[bool]] = {"area": [], "band": []}
    for world, counts in enumerate(passes):
        grid = Grid(("a", "b", "c"), tuple("wxyz"), names, 1, weights, counts)
        found = compare(grid, Settings(CAPS, "max_tool_calls", RESAMPLES, 0.05, f"{world + 1:x}"))
        covered["area"] += [
            row.area_low <= true <= row.area_high
            for row, true in zip(found.areas, areas, strict=True)
        ]
        covered["band"].append(
            all(
                c.band_low <= _delta(rates, c.agent_a, c.agent_b, c.budget) <= c.band_high
                for c in found.contrasts
                if c.band_low is not None and c.band_high is not None
            )
        )
    return [_row(what, "curves", tasks, pattern, worlds, hits) for what, hits in covered.items()]


def _delta(rates: Any, a: str, b: str, budget: str) -> float:
    place = "wxyz".index(budget)
    return float(rates["abc".index(a), place] - rates["abc".index(b), place])


def _row(what: str, profile: str, tasks: int, pattern: str, worlds: int, hits: Any) -> Any:
    coverage = float(np.mean(hits))
    return {
        "what": what,
        "rates": profile,
        "tasks": tasks,
        "weights": pattern,
        "worlds": worlds,
        "coverage": coverage,
        "standard_error": standard_error(coverage, worlds),
    }


def rows(worlds: int) -> list[Any]:
    """Return all rows of others.csv."""
    found = [
        rank_row(profile, tasks, pattern, worlds)
        for pattern in ("equal", "starter")
        for tasks in (24, 60, 500)
        for profile in RANKED
    ]
    for tasks, pattern in ((24, "equal"), (60, "equal"), (60, "starter"), (500, "equal")):
        found += curve_rows(tasks, pattern, worlds if tasks < 500 else worlds // 4)
    return found
