"""The pass counts of one slice as integers: what every comparison is computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from frozenbench.canonical import BadInput, Refused

IntArray = npt.NDArray[np.int64]

#: One graded cell: agent, budget, task, repeat, weight, whether it is PASS.
Cell = tuple[str, str, str, int, int, bool]


def equal_weights(weights: Iterable[int]) -> bool:
    """Tell whether tasks weigh the same: those of one slice that are in its rates."""
    return len(set(weights)) < 2


@dataclass(frozen=True)
class Grid:
    """PASS counts of agents × budgets × tasks in one slice.

    Attributes:
        agents: names in the config's order, length A.
        budgets: names in the view's order, length B.
        tasks: ids, sorted, length T ≥ 1.
        repeats: repeats of each cell, ≥ 1.
        weights: shape (T,), integers ≥ 1: the tasks' review costs.
        passes: shape (A, B, T), integers in 0..repeats: k of PROTOCOL 8.
    """

    agents: tuple[str, ...]
    budgets: tuple[str, ...]
    tasks: tuple[str, ...]
    repeats: int
    weights: IntArray
    passes: IntArray

    @cached_property
    def weighted(self) -> IntArray:
        """w k for each agent, budget and task, shape (A, B, T)."""
        return self.passes * self.weights

    @cached_property
    def totals(self) -> IntArray:
        """Σ w k for each agent and budget, shape (A, B): the numerators of the weighted rates."""
        return np.asarray(self.weighted.sum(axis=2), dtype=np.int64)

    @cached_property
    def unit_totals(self) -> IntArray:
        """Σ k for each agent and budget, shape (A, B): the numerators under unit weights."""
        return np.asarray(self.passes.sum(axis=2), dtype=np.int64)

    @cached_property
    def whole(self) -> int:
        """Σ w × repeats: the denominator of every weighted rate."""
        return int(self.weights.sum()) * self.repeats

    @cached_property
    def unit(self) -> bool:
        """Whether all weights are equal and there is one repeat, so that a contrast is 2 × 2."""
        return self.repeats == 1 and equal_weights(self.weights.tolist())


def build_grid(
    cells: Iterable[Cell], agents: tuple[str, ...], budgets: tuple[str, ...], repeats: int
) -> Grid:
    """Count PASS by agent, budget and task.

    The tasks are those that occur in `cells`; each must be there for every agent, budget and
    repeat, once, and with one weight.

    Raises:
        BadInput: a cell is there twice or of an unknown agent or budget, or a task has two weights.
        Refused: a cell is missing: no denominator is ever made smaller.
    """
    rows = list(cells)
    weight_of: dict[str, int] = {}
    for _, _, task, _, weight, _ in rows:
        if weight_of.setdefault(task, weight) != weight or weight < 1:
            raise BadInput(
                f"cells.parquet: weight: {task} has the weight {weight} beside {weight_of[task]}; "
                "a task has one weight, an integer ≥ 1; cure: make the table again"
            )
    tasks = tuple(sorted(weight_of))
    place = {name: index for index, name in enumerate(tasks)}
    agent_place = {name: index for index, name in enumerate(agents)}
    budget_place = {name: index for index, name in enumerate(budgets)}
    passes = np.zeros((len(agents), len(budgets), len(tasks)), dtype=np.int64)
    seen: Counter[tuple[str, str, str, int]] = Counter()
    for agent, budget, task, repeat, _, passed in rows:
        if agent not in agent_place or budget not in budget_place:
            raise BadInput(
                f"cells.parquet: {agent} under {budget} is not in the view; "
                "cure: make the table and the view from the same config"
            )
        seen[agent, budget, task, repeat] += 1
        passes[agent_place[agent], budget_place[budget], place[task]] += passed
    _require_each_once(seen, agents, budgets, tasks, repeats)
    weights = np.array([weight_of[task] for task in tasks], dtype=np.int64)
    return Grid(agents, budgets, tasks, repeats, weights, passes)


def _require_each_once(
    seen: Counter[tuple[str, str, str, int]],
    agents: tuple[str, ...],
    budgets: tuple[str, ...],
    tasks: tuple[str, ...],
    repeats: int,
) -> None:
    for cell, times in seen.items():
        if times > 1:
            raise BadInput(
                f"cells.parquet: {_name(cell)} is there {times} times; cure: make the table again"
            )
    expected = 0
    for cell in product(agents, budgets, tasks, range(repeats)):
        expected += 1
        if cell not in seen:
            raise Refused(
                f"cells.parquet: {_name(cell)} is missing; no score is printed over fewer cells; "
                "cure: run the missing cells"
            )
    if len(seen) != expected:
        raise BadInput(
            f"cells.parquet: repeat: a repeat lies outside 0..{repeats - 1}, which the controls "
            "hold; cure: make the table again"
        )


def _name(cell: tuple[str, str, str, int]) -> str:
    agent, budget, task, repeat = cell
    return f"the cell of {agent} on {task} under {budget}, repeat {repeat},"


def common_divisor(values: IntArray) -> int:
    """Return the greatest common divisor of the values' sizes, 1 where all are 0."""
    return int(np.gcd.reduce(np.abs(values))) or 1


def dot(one: IntArray, other: IntArray) -> int:
    """Return Σ of the products as an exact integer, whatever the weights."""
    largest = int(np.abs(one).max(initial=0)) * int(np.abs(other).max(initial=0))
    if largest * len(one) < 2**62:
        return int(np.dot(one, other))
    return sum(int(first) * int(second) for first, second in zip(one, other, strict=True))
