"""Worlds in which the truth is known: PASS counts of agents on tasks, drawn many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Weights by name, repeated over the tasks. `one heavy` is made in `weights_of`.
PATTERNS = {
    "equal": (1,),
    "starter": (1, 1, 1, 1, 2, 5),
    "spread": (1, 2, 3, 5, 8),
}


def weights_of(pattern: str, tasks: int) -> Ints:
    """Return the weights of so many tasks; `one heavy`: the last weighs a quarter of the others."""
    if pattern == "one heavy":
        return np.array([1] * (tasks - 1) + [tasks // 4], dtype=np.int64)
    held = PATTERNS[pattern]
    return np.array([held[task % len(held)] for task in range(tasks)], dtype=np.int64)


@dataclass(frozen=True)
class Dependence:
    """How cells hang together: shares of the variance of what decides a cell.

    Attributes:
        task: shared by all agents and budgets on a task: some tasks are hard for everybody.
        agent: shared by the budgets of an agent on a task, as shared responses make it.
    """

    name: str
    task: float = 0.0
    agent: float = 0.0


INDEPENDENT = Dependence("independent")
CORRELATED = Dependence("correlated", task=0.4, agent=0.4)


def draw_passes(
    rates: npt.ArrayLike,
    tasks: int,
    worlds: int,
    seed: Sequence[int],
    dependence: Dependence = INDEPENDENT,
    repeats: int = 1,
) -> Ints:
    """Return PASS counts, shape (worlds, agents, budgets, tasks).

    `rates` has shape (agents, budgets) or (agents, budgets, tasks): the chance of each cell to be
    PASS, which holds exactly whatever the dependence.
    """
    chance = np.asarray(rates, dtype=np.float64)
    if chance.ndim == 2:
        chance = np.repeat(chance[:, :, None], tasks, axis=2)
    draw = np.random.default_rng(seed)
    agents, budgets, _ = chance.shape
    shape = (worlds, agents, budgets, tasks)
    if not dependence.task and not dependence.agent:
        return np.asarray(draw.binomial(repeats, chance, size=shape), dtype=np.int64)
    shared = np.sqrt(dependence.task) * draw.standard_normal((worlds, 1, 1, tasks))
    shared = shared + np.sqrt(dependence.agent) * draw.standard_normal((worlds, agents, 1, tasks))
    own = np.sqrt(1 - dependence.task - dependence.agent)
    threshold = norm.ppf(chance)
    found = np.zeros(shape, dtype=np.int64)
    for _ in range(repeats):
        found += shared + own * draw.standard_normal(shape) < threshold
    return found


def standard_error(share: float, worlds: int) -> float:
    """Return the Monte-Carlo standard error of a share of so many worlds."""
    return float(np.sqrt(share * (1 - share) / worlds))
