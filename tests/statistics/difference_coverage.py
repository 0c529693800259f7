"""How often the interval of a difference holds the true one; none is given below ten discordant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.intervals import (
    LEVEL,
    MIN_DISCORDANT_FOR_INTERVAL,
    adjusted_tango,
    tango,
)
from frozenbench.stats.resample import central, index_matrix, resampled_totals
from scipy.stats import binom
from simulated_worlds import (
    CORRELATED,
    PATTERNS,
    Ints,
    draw_passes,
    standard_error,
    weights_of,
)

RESAMPLES = 2000

#: Worlds that are resampled at a time: bounds memory.
_BLOCK = 500

#: Shares of the discordant tasks that go A's way.
AHEAD = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

#: Rates of two agents whose cells hang together.
RATES = ((0.04, 0.10), (0.5, 0.5), (0.4, 0.6), (0.95, 0.95), (0.9, 0.97), (0.2, 0.8))

#: What A solves more than B of the heavy tasks (above the median weight) and of the light ones.
UNEVEN = {"all": (0.5, 0.1), "heavy": (0.6, 0.0), "light": (0.0, 0.6), "opposed": (0.6, -0.6)}


@dataclass(frozen=True)
class Drawn:
    """Worlds of one kind.

    Attributes:
        differences: k_A − k_B, shape (worlds, tasks).
        weights: shape (worlds, tasks), or (tasks,) where all worlds have the same.
        delta: the true difference.
        expected: discordant tasks, on the mean.
    """

    differences: Ints
    weights: Ints
    repeats: int
    delta: float
    expected: float


def draw_differences(
    tasks: int, discordant: float, ahead: float, worlds: int, repeats: int = 1
) -> Ints:
    """Return k_A − k_B, shape (worlds, tasks): |k_A − k_B| of a discordant task is 1 to r, alike."""
    draw = np.random.default_rng((tasks, round(100 * discordant), round(100 * ahead), repeats))
    shape = (worlds, tasks)
    sizes = draw.integers(1, repeats + 1, shape)
    signs = np.where(draw.random(shape) < ahead, 1, -1)
    return np.where(draw.random(shape) < discordant / tasks, sizes * signs, 0)


def one_way(
    tasks: int, pattern: str, discordant: float, ahead: float, worlds: int, repeats: int
) -> Drawn:
    """Draw worlds whose tasks are alike, whatever they weigh."""
    s = draw_differences(tasks, discordant, ahead, worlds, repeats)
    delta = discordant / tasks * (2 * ahead - 1) * (repeats + 1) / 2 / repeats
    return Drawn(s, weights_of(pattern, tasks), repeats, delta, discordant)


def of_rates(
    tasks: int, pattern: str, rates: tuple[float, float], worlds: int, repeats: int
) -> Drawn:
    """Draw worlds of two agents of these rates on tasks that are hard or easy for both."""
    seed = (tasks, repeats, *(round(100 * rate) for rate in rates))
    k = draw_passes([[rates[0]], [rates[1]]], tasks, worlds, seed, CORRELATED, repeats)
    s = k[:, 0, 0] - k[:, 1, 0]
    expected = float((s != 0).sum(axis=1).mean())
    return Drawn(s, weights_of(pattern, tasks), repeats, rates[0] - rates[1], expected)


def uneven(tasks: int, pattern: str, kind: str, worlds: int, repeats: int) -> Drawn:
    """Draw tasks with their weights; how far A is ahead depends on a task's weight."""
    draw = np.random.default_rng((tasks, repeats, len(kind)))
    pool = np.array(PATTERNS[pattern])
    is_heavy = pool > np.median(pool)
    heavy, light = int(pool[is_heavy].sum()), int(pool[~is_heavy].sum())
    gaps = np.array(UNEVEN[kind])
    if kind == "opposed":  # so that the weighted rates are equal
        gaps = gaps * np.minimum(1.0, [light / heavy, heavy / light])
    weights = pool[draw.integers(0, len(pool), (worlds, tasks))]
    gap = np.where(weights > np.median(pool), *gaps)
    a = draw.binomial(repeats, 0.2 + np.maximum(gap, 0))
    b = draw.binomial(repeats, 0.2 + np.maximum(-gap, 0))
    delta = float((gaps[0] * heavy + gaps[1] * light) / (heavy + light))
    expected = float((a != b).sum(axis=1).mean())
    return Drawn(a - b, weights, repeats, round(delta, 12) + 0.0, expected)


def is_unit(drawn: Drawn) -> bool:
    """Tell whether the product gives Tango's own interval here."""
    return drawn.repeats == 1 and len(np.unique(drawn.weights)) == 1


def ends_of(drawn: Drawn) -> Any:
    """Return low and high ends of each world as the product gives them, (2, worlds)."""
    weights = np.broadcast_to(drawn.weights, drawn.differences.shape)
    if is_unit(drawn):
        pairs = [
            tango(int((s > 0).sum()), int((s < 0).sum()), len(s), LEVEL) for s in drawn.differences
        ]
    else:
        pairs = [
            adjusted_tango(s * w, w, drawn.repeats, LEVEL)
            for s, w in zip(drawn.differences, weights, strict=True)
        ]
    return np.array(pairs, dtype=np.float64).T


def bootstrap_ends(drawn: Drawn) -> Any:
    """Return the ends of the percentile bootstrap, which is not used."""
    tasks = drawn.differences.shape[1]
    weights = np.broadcast_to(drawn.weights, drawn.differences.shape)
    index = index_matrix(f"{tasks:x}", RESAMPLES, tasks)
    found = []
    for start in range(0, len(weights), _BLOCK):
        w = weights[start : start + _BLOCK]
        s = drawn.differences[start : start + _BLOCK] * w
        wholes = w[:1] if drawn.weights.ndim == 1 else w
        parts = [np.maximum(s, 0), np.maximum(-s, 0), wholes * drawn.repeats]
        totals = resampled_totals(index, np.vstack(parts))
        deltas = (totals[: len(s)] - totals[len(s) : 2 * len(s)]) / totals[2 * len(s) :]
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


def _seen(ends: Any, drawn: Drawn, rejected: Any, name: str) -> dict[str, float]:
    """Return coverage, mean width, and how often 0 lies outside where the exact test rejects."""
    low, high = ends
    return {
        f"coverage{name}": float(np.mean((low <= drawn.delta) & (drawn.delta <= high))),
        f"width{name}": float(np.mean(high - low)),
        f"as_test{name}": float(np.mean(((low > 0) | (high < 0)) == rejected)),
    }


def row(world: str, pattern: str, ahead: float | None, drawn: Drawn) -> Any:
    """Return one row of differences.csv, over the worlds in which an interval is shown."""
    shown = (drawn.differences != 0).sum(axis=1) >= MIN_DISCORDANT_FOR_INTERVAL
    weights = drawn.weights if drawn.weights.ndim == 1 else drawn.weights[shown]
    kept = Drawn(drawn.differences[shown], weights, drawn.repeats, drawn.delta, drawn.expected)
    s = kept.differences * kept.weights
    rejected = np.array([sign_flip_p(values) for values in s]) <= 1 - LEVEL
    seen = _seen(ends_of(kept), kept, rejected, "")
    unit, tasks = is_unit(drawn), drawn.differences.shape[1]
    beside = {f"{key}_bootstrap": None for key in seen}
    if not unit:
        beside = _seen(bootstrap_ends(kept), kept, rejected, "_bootstrap")
    exact = None
    if unit and ahead is not None:
        exact = exact_tango(tasks, drawn.expected, ahead)[0]
    return {
        "interval": "tango" if unit else "adjusted tango",
        "world": world,
        "tasks": tasks,
        "weights": pattern,
        "repeats": drawn.repeats,
        "expected_discordant": drawn.expected,
        "ahead": ahead,
        "delta": drawn.delta,
        "worlds": len(drawn.differences),
        "shown": float(shown.mean()),
        "standard_error": standard_error(seen["coverage"], int(shown.sum())),
        "coverage_exact": exact,
        "rejected": float(np.mean(rejected)),
        **seen,
        **beside,
    }


def _one_way_rows(worlds: int) -> Iterator[Any]:
    for tasks, held in {
        24: (("equal", 1), ("starter", 1), ("equal", 3)),
        60: (
            *((pattern, 1) for pattern in ("equal", "starter", "spread", "one heavy")),
            *(("equal", 3), ("starter", 3), ("equal", 5)),
        ),
        500: (
            *((pattern, 1) for pattern in ("equal", "starter", "spread", "one heavy")),
            *(("equal", 3), ("starter", 3)),
        ),
    }.items():
        for pattern, repeats in held:
            for discordant in (10, 20, 30):
                for ahead in AHEAD if discordant < tasks else ():
                    drawn = one_way(tasks, pattern, discordant, ahead, worlds, repeats)
                    yield row("one way", pattern, ahead, drawn)


def rows(worlds: int) -> list[Any]:
    """Return all rows of differences.csv: four times the worlds, as only some show an interval."""
    found = list(_one_way_rows(4 * worlds))
    for tasks in (24, 60, 500):
        for pattern, repeats in (("equal", 3), ("equal", 5), ("starter", 1), ("starter", 3)):
            for rates in RATES:
                drawn = of_rates(tasks, pattern, rates, worlds, repeats)
                if drawn.expected >= MIN_DISCORDANT_FOR_INTERVAL:
                    found.append(row(f"rates {rates[0]} {rates[1]}", pattern, None, drawn))
        for pattern, repeats in (("starter", 1), ("starter", 3), ("spread", 1)):
            for kind in UNEVEN:
                drawn = uneven(tasks, pattern, kind, worlds, repeats)
                found.append(row(f"uneven {kind}", pattern, None, drawn))
    return found
