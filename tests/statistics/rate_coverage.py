"""How often the interval of one rate holds the true rate, over the grid .01, .02, … .99."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from frozenbench.stats.intervals import effective_n, wilson
from scipy.stats import binom
from simulated_worlds import CORRELATED, INDEPENDENT, Dependence, Floats, draw_passes, weights_of

GRID = np.arange(1, 100) / 100


def wilson_ends(weights: Any, repeats: int = 1) -> tuple[Floats, Floats]:
    """Return both ends for each Σ w k from 0 to r Σ w, as the product computes them."""
    whole, size = int(weights.sum()) * repeats, effective_n(weights)
    ends = [wilson(Fraction(total, whole), size) or (0.0, 1.0) for total in range(whole + 1)]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def percentile_ends(tasks: int) -> tuple[Floats, Floats]:
    """Return the ends of the percentile bootstrap of a rate, which is a binomial quantile."""
    rates = np.arange(tasks + 1) / tasks
    return binom.ppf(0.025, tasks, rates) / tasks, binom.ppf(0.975, tasks, rates) / tasks


def exact_coverage(ends: tuple[Floats, Floats], weights: Any, rate: float) -> float:
    """Return P(the interval holds `rate`) where tasks pass independently, by convolution."""
    chance = np.zeros(int(weights.sum()) + 1)
    chance[0] = 1.0
    for weight in weights:
        passed = np.zeros_like(chance)
        passed[weight:] = chance[:-weight]
        chance = (1 - rate) * chance + rate * passed
    return float(chance[(ends[0] <= rate) & (rate <= ends[1])].sum())


def simulated_coverage(
    ends: tuple[Floats, Floats],
    weights: Any,
    worlds: int,
    dependence: Dependence = INDEPENDENT,
    repeats: int = 1,
) -> Floats:
    """Return the share of worlds whose interval holds the true rate, for each of `GRID`."""
    found = []
    for place, rate in enumerate(GRID):
        seed = (len(weights), repeats, int(weights[-1]), place)
        passes = draw_passes([[rate]], len(weights), worlds, seed, dependence, repeats)
        totals = passes[:, 0, 0] @ weights
        found.append(float(np.mean((ends[0][totals] <= rate) & (rate <= ends[1][totals]))))
    return np.array(found)


def row(tasks: int, pattern: str, worlds: int, repeats: int = 1, how: str = "wilson") -> Any:
    """Return one row of rates.csv; repeats of a task hang together (`CORRELATED`)."""
    weights = weights_of(pattern, tasks)
    ends = wilson_ends(weights, repeats) if how == "wilson" else percentile_ends(tasks)
    dependence = INDEPENDENT if repeats == 1 else CORRELATED
    drawn = simulated_coverage(ends, weights, worlds, dependence, repeats)
    exact = (
        np.array([exact_coverage(ends, weights, float(rate)) for rate in GRID])
        if repeats == 1
        else None
    )
    return {
        "interval": how,
        "tasks": tasks,
        "weights": pattern,
        "effective_n": float(effective_n(weights)),
        "repeats": repeats,
        "worlds": worlds,
        "mean_simulated": drawn.mean(),
        "min_simulated": drawn.min(),
        "mean_exact": None if exact is None else exact.mean(),
        "min_exact": None if exact is None else exact.min(),
        "min_exact_at_rate": None if exact is None else float(GRID[exact.argmin()]),
    }


def rows(worlds: int) -> list[Any]:
    """Return all rows of rates.csv."""
    found = [
        row(tasks, pattern, worlds)
        for pattern in ("equal", "starter", "spread", "one heavy")
        for tasks in (12, 24, 60, 500)
    ]
    found += [row(tasks, "equal", worlds, repeats=3) for tasks in (12, 24, 60, 500)]
    found += [row(tasks, "equal", worlds, how="percentile bootstrap") for tasks in (12, 24, 60)]
    return found
