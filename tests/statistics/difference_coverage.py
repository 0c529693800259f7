"""How often the interval of a difference holds the true one; none is given below ten discordant."""

from __future__ import annotations

from typing import Any

import numpy as np
from frozenbench.stats.intervals import LEVEL, MIN_DISCORDANT_FOR_INTERVAL, tango
from frozenbench.stats.resample import central, index_matrix, resampled_totals
from scipy.stats import binom
from simulated_worlds import Ints, standard_error, weights_of

RESAMPLES = 2000

#: Worlds that are resampled at a time: bounds memory.
_BLOCK = 500

#: Shares of the discordant tasks that go A's way.
AHEAD = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def draw_differences(
    tasks: int, discordant: float, ahead: float, worlds: int, repeats: int = 1
) -> Ints:
    """Return k_A − k_B, shape (worlds, tasks): |k_A − k_B| of a discordant task is 1 to r, alike."""
    draw = np.random.default_rng((tasks, round(100 * discordant), round(100 * ahead), repeats))
    shape = (worlds, tasks)
    sizes = draw.integers(1, repeats + 1, shape)
    signs = np.where(draw.random(shape) < ahead, 1, -1)
    return np.where(draw.random(shape) < discordant / tasks, sizes * signs, 0)


def ends_of(differences: Ints, weights: Ints, repeats: int) -> Any:
    """Return low and high ends of each world as the product gives them where it gives any."""
    if repeats == 1 and len(set(weights.tolist())) == 1:
        pairs = [
            tango(int((s > 0).sum()), int((s < 0).sum()), len(weights), LEVEL) for s in differences
        ]
        return np.array(pairs, dtype=np.float64).T
    index = index_matrix(f"{len(weights):x}", RESAMPLES, len(weights))
    found = []
    for start in range(0, len(differences), _BLOCK):
        s = differences[start : start + _BLOCK] * weights
        values = np.vstack([np.maximum(s, 0), np.maximum(-s, 0), weights * repeats])
        totals = resampled_totals(index, values)
        deltas = (totals[: len(s)] - totals[len(s) : -1]) / totals[-1]
        found += [central(values, LEVEL) for values in deltas]
    return np.array(found).T


def exact_tango(tasks: int, discordant: float, ahead: float) -> tuple[float, float]:
    """Return P(the interval holds Δ) where one is shown, and as if one were shown always."""
    share = discordant / tasks
    delta = share * (2 * ahead - 1)
    shown = held = held_always = 0.0
    for d in range(tasks + 1):
        chance = binom.pmf(d, tasks, share)
        if chance < 1e-10:
            continue
        ways = chance * binom.pmf(np.arange(d + 1), d, ahead)
        for b in np.flatnonzero(ways > 1e-13):
            low, high = tango(int(b), int(d - b), tasks, LEVEL) or (-1.0, 1.0)
            hit = ways[b] * (low <= delta <= high)
            held_always += hit
            if d >= MIN_DISCORDANT_FOR_INTERVAL:
                shown += ways[b]
                held += hit
    return float(held / shown), float(held_always)


def row(
    tasks: int, pattern: str, discordant: float, ahead: float, worlds: int, repeats: int = 1
) -> Any:
    """Return one row of differences.csv."""
    weights = weights_of(pattern, tasks)
    s = draw_differences(tasks, discordant, ahead, worlds, repeats)
    low, high = ends_of(s, weights, repeats)
    delta = discordant / tasks * (2 * ahead - 1) * (repeats + 1) / 2 / repeats
    holds = (low <= delta) & (delta <= high)
    shown = (s != 0).sum(axis=1) >= MIN_DISCORDANT_FOR_INTERVAL
    coverage = float(holds[shown].mean())
    is_tango = pattern == "equal" and repeats == 1
    exact = exact_tango(tasks, discordant, ahead) if is_tango else (None, None)
    return {
        "interval": "tango" if is_tango else "bootstrap",
        "tasks": tasks,
        "weights": pattern,
        "repeats": repeats,
        "expected_discordant": discordant,
        "ahead": ahead,
        "delta": delta,
        "worlds": worlds,
        "shown": float(shown.mean()),
        "coverage": coverage,
        "standard_error": standard_error(coverage, int(shown.sum())),
        "coverage_exact": exact[0],
        "coverage_if_always_shown": float(holds.mean()),
    }


def rows(worlds: int) -> list[Any]:
    """Return all rows of differences.csv: four times the worlds, as only some show an interval."""
    found = []
    for tasks, pattern, repeats in (
        *((tasks, "equal", 1) for tasks in (24, 60, 500)),
        *((tasks, "starter", 1) for tasks in (24, 60, 500)),
        *((tasks, "spread", 1) for tasks in (60, 500)),
        *((tasks, "one heavy", 1) for tasks in (60, 500)),
        *((tasks, "equal", 3) for tasks in (60, 500)),
    ):
        for discordant in (10, 20, 30):
            if discordant < tasks:
                found += [row(tasks, pattern, discordant, a, 4 * worlds, repeats) for a in AHEAD]
    return found
