"""Family-wise error of contrasts and confirmed flips, and power, in worlds whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from frozenbench.stats.compare import SUGGESTIVE_SUPPORT
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.flips import marks
from frozenbench.stats.holm import holm
from frozenbench.stats.resample import index_matrix, resampled_totals, support
from simulated_worlds import (
    CORRELATED,
    INDEPENDENT,
    Dependence,
    Floats,
    Ints,
    draw_passes,
    standard_error,
    weights_of,
)

ALPHA = 0.05
RESAMPLES = 1000

#: Worlds that are resampled at a time: bounds memory.
_BLOCK = 100


@dataclass(frozen=True)
class World:
    """One kind of world.

    Attributes:
        name: `null`, `hard null`, `opposed` or `planted`.
        rates: chance of PASS, (agents, budgets) or (agents, budgets, tasks).
        profile: what the rates are, in words.
        held: whether this kind of world is under the target.
    """

    name: str
    profile: str
    rates: Any
    tasks: int
    dependence: Dependence = INDEPENDENT
    weights: str = "equal"
    repeats: int = 1
    held: bool = True


@dataclass(frozen=True)
class Seen:
    """What was found in one world: who flipped how, and which contrasts were rejected."""

    rejected: npt.NDArray[np.bool_]  # pairs x budgets
    signs: Ints  # pairs x budgets
    kinds: frozenset[str]


def look(passes: Ints, weights: Ints, totals: Floats) -> Seen:
    """Compare one world, (agents, budgets, tasks), with the product's own parts.

    `totals` are its Σ w k in the resamples, (agents, budgets, R). A test holds this to `compare`.
    """
    agents, budgets, _ = passes.shape
    pairs = list(combinations(range(agents), 2))
    s = np.array(
        [[(passes[a, b] - passes[c, b]) * weights for b in range(budgets)] for a, c in pairs]
    )
    p = [sign_flip_p(values) for pair in s for values in pair]
    rejected = np.array([q <= ALPHA for q in holm(p)]).reshape(len(pairs), budgets)
    signs = np.sign(s.sum(axis=2))
    kinds = set()
    for number, (a, c) in enumerate(pairs):
        line = signs[number].tolist()
        for step, pair in marks(line, rejected[number].tolist()):
            if pair is not None:
                kinds.add("confirmed")
                continue
            first, second = (totals[a, place] - totals[c, place] for place in step)
            share = support(first, second, line[step[0]])
            kinds.add("suggestive" if share >= SUGGESTIVE_SUPPORT else "unresolved")
    return Seen(rejected, signs, frozenset(kinds))


def look_at_all(world: World, worlds: int, seed: Sequence[int]) -> list[Seen]:
    """Draw so many worlds and compare each."""
    passes = draw_passes(world.rates, world.tasks, worlds, seed, world.dependence, world.repeats)
    weights = weights_of(world.weights, world.tasks)
    index = index_matrix(f"{world.tasks:x}5eed", RESAMPLES, world.tasks)
    found = []
    for start in range(0, worlds, _BLOCK):
        block = passes[start : start + _BLOCK]
        drawn = resampled_totals(index, (block * weights).reshape(-1, world.tasks))
        totals = drawn.reshape((*block.shape[:3], RESAMPLES))
        found += [look(one, weights, held) for one, held in zip(block, totals, strict=True)]
    return found


def true_differences(world: World) -> Floats:
    """Return Δ of each pair under each budget, as the world has it."""
    chance = np.asarray(world.rates, dtype=np.float64)
    if chance.ndim == 3:
        weights = weights_of(world.weights, world.tasks)
        chance = chance @ weights / weights.sum()
    pairs = combinations(range(len(chance)), 2)
    return np.array([np.round(chance[a] - chance[c], 9) for a, c in pairs])


def true_flip(delta: Floats) -> bool:
    """Tell whether any pair has differences of opposite sign: only then a flip can be right."""
    return bool(np.any((delta.min(axis=1) < 0) & (delta.max(axis=1) > 0)))


def row(world: World, worlds: int, number: int) -> dict[str, Any]:
    """Return one row of errors.csv or power.csv."""
    seen = look_at_all(world, worlds, (number, world.tasks))
    delta = true_differences(world)
    false = np.array([bool(one.rejected[delta == 0].any()) for one in seen]).mean()
    confirmed, suggestive, crossed = (
        float(np.mean([bool(kinds & one.kinds) for one in seen]))
        for kinds in ({"confirmed"}, {"suggestive"}, {"confirmed", "suggestive", "unresolved"})
    )
    agents, budgets = np.asarray(world.rates).shape[:2]
    found = {
        "world": world.name,
        "rates": world.profile,
        "tasks": world.tasks,
        "agents": agents,
        "budgets": budgets,
        "dependence": world.dependence.name,
        "weights": world.weights,
        "repeats": world.repeats,
        "worlds": worlds,
    }
    if true_flip(delta):
        return found | {
            "confirmed": confirmed,
            "standard_error": standard_error(confirmed, worlds),
            "suggestive": suggestive,
            "crossed": crossed,
        }
    limit = ALPHA + 2 * standard_error(ALPHA, worlds)
    return found | {
        "false_contrast": float(false),
        "false_confirmed": confirmed,
        "limit": limit,
        "holds": bool(false <= limit and confirmed <= limit),
        "under_target": world.held,
        "suggestive": suggestive,
        "crossed": crossed,
    }


RISING = (0.13, 0.26, 0.50, 0.74)
FLAT = (0.42,) * 4
#: A solves more where the budget is small, and the two are equal from then on.
HARD = ((0.42, 0.42, 0.42, 0.42), (0.13, 0.42, 0.42, 0.42))
#: The same, and the difference is between budgets that tie.
HARD_BETWEEN = ((0.30, 0.60, 0.30, 0.30), (0.30, 0.20, 0.30, 0.30))


def opposed(tasks: int, pattern: str) -> Any:
    """Two agents of one weighted rate that solve other tasks: A the heavy ones, B the light."""
    weights = weights_of(pattern, tasks)
    first = weights > np.median(weights) if pattern != "equal" else np.arange(tasks) % 2 == 0
    heavy, light = int(weights[first].sum()), int(weights[~first].sum())
    gap = 0.6 * min(1.0, light / heavy), 0.6 * min(1.0, heavy / light)
    a = np.where(first, 0.2 + gap[0], 0.2)
    b = np.where(first, 0.2, 0.2 + gap[1])
    return np.repeat(np.array([a, b])[:, None, :], 4, axis=1)


def null_worlds() -> list[World]:
    """Worlds in which no pair truly flips."""
    found = []
    for tasks in (12, 24, 60, 500):
        found += [
            World("null", ".42 flat", [FLAT] * 3, tasks),
            World("null", ".13 to .74", [RISING] * 3, tasks, CORRELATED),
            World("null", ".02 flat", [(0.02,) * 4] * 3, tasks),
            World("null", ".97 flat", [(0.97,) * 4] * 3, tasks, CORRELATED),
            World("null", ".13 to .74", [RISING] * 3, tasks, CORRELATED, "starter"),
            World("null", ".13 to .74", [RISING] * 3, tasks, CORRELATED, "one heavy"),
            World("null", ".13 to .74", [RISING] * 3, tasks, CORRELATED, "equal", 3),
            World("hard null", "apart at one end", HARD, tasks),
            World("hard null", "apart at one end", HARD, tasks, CORRELATED),
            World("hard null", "apart at one end", HARD, tasks, CORRELATED, "starter"),
            World("hard null", "apart at one end", HARD, tasks, CORRELATED, "starter", 3),
            World("hard null", "apart between ties", HARD_BETWEEN, tasks),
            World("opposed", "A even tasks, B odd", opposed(tasks, "equal"), tasks),
            World(
                "opposed",
                "A heavy tasks, B light",
                opposed(tasks, "starter"),
                tasks,
                weights="starter",
                held=False,
            ),
        ]
    found.append(World("null", ".42 flat", [(0.42,) * 8] * 6, 60))
    return found


def planted_worlds() -> list[World]:
    """Worlds in which two agents truly flip; the named one has 80 independent tasks."""
    planted = (FLAT, RISING)
    found = [
        World("planted", ".42 flat, .13 to .74", planted, n) for n in (12, 24, 40, 60, 80, 120)
    ]
    found += [
        World("planted", ".42 flat, .13 to .74", planted, 80, CORRELATED),
        World("planted", ".42 flat, .13 to .74", planted, 80, INDEPENDENT, "starter"),
        World("planted", ".42 flat, .13 to .74", planted, 80, INDEPENDENT, "equal", 3),
        World("planted", ".42 flat, .13 to .74 twice", (FLAT, RISING, FLAT), 80),
    ]
    return found
