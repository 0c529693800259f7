"""Every cell of the slice that is drawn, task by task, and which tasks tell agents apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from frozenbench.canonical import BadInput
from frozenbench.outcomes import OUTCOMES

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TaskCells:
    """How often each outcome came, over repeats.

    Attributes:
        tasks: names, in the order of the last axis but one.
        counts: shape (agents, budgets, tasks, 5), outcomes in the order of OUTCOMES.
    """

    tasks: tuple[str, ...]
    counts: Counts

    @property
    def passed(self) -> Counts:
        """Number of PASS repeats, shape (agents, budgets, tasks)."""
        found: Counts = self.counts[..., OUTCOMES.index("PASS")]
        return found

    @property
    def outcomes(self) -> set[str]:
        """The outcomes that occur."""
        return {name for place, name in enumerate(OUTCOMES) if self.counts[..., place].any()}

    def of(self, agents: Sequence[int]) -> TaskCells:
        """Return the cells of some agents, by place."""
        return TaskCells(self.tasks, self.counts[list(agents)])


def read_task_cells(
    path: Path, tasks: Sequence[str], agents: Sequence[str], budgets: Sequence[str]
) -> TaskCells:
    """Count the cells of `tasks` by agent, budget and outcome; axes as the arguments name them.

    Raises:
        BadInput: a column is missing, or a cell has an outcome that PROTOCOL does not know.
    """
    columns = ("agent", "budget", "task", "outcome")
    held = pq.read_schema(path).names
    for name in columns:
        if name not in held:
            raise BadInput(
                f"{path.name}: {name}: the column is missing; cure: make the table again"
            )
    table = pq.read_table(path, columns=list(columns))
    names = (agents, budgets, tasks, OUTCOMES)
    for name, known in zip(columns[:3], names[:3], strict=True):
        table = table.filter(pc.is_in(table[name], value_set=pa.array(known, pa.string())))
    places = [
        pc.index_in(table[name], value_set=pa.array(list(known), pa.string()))
        for name, known in zip(columns, names, strict=True)
    ]
    if places[3].null_count:
        raise BadInput(f"{path.name}: outcome: holds a value that is none of {', '.join(OUTCOMES)}")
    counts = np.zeros(tuple(len(known) for known in names), dtype=np.int64)
    np.add.at(counts, tuple(place.to_numpy() for place in places), 1)
    return TaskCells(tuple(tasks), counts)


@dataclass(frozen=True)
class Band:
    """Tasks of one kind, those that tell the most apart first; places in `TaskCells.tasks`.

    Attributes:
        title: the heading over them.
        told: what the subtitle says of them, after their number.
        tasks: their places.
    """

    title: str
    told: str
    tasks: tuple[int, ...]


def bands(cells: TaskCells) -> list[Band]:
    """Sort tasks into bands by what they do to a comparison; empty bands are left out.

    PASS is compared with not PASS, whatever the other outcome. The difference of two agents changes
    from budget b to budget c by Σ w (s_t(c) − s_t(b)), so only tasks whose s_t (PASS of one minus
    PASS of the other) differs can change an order. With one agent: by whether the number of PASS
    changes with the budget.
    """
    passed = cells.passed
    if len(passed) == 1:
        changes = np.abs(np.diff(passed[0], axis=0)).sum(axis=0)
        return _bands(np.where(changes > 0, 3, 4), changes)
    pairs = combinations(range(len(passed)), 2)
    apart = np.array([passed[a] - passed[b] for a, b in pairs])
    moves = np.abs(np.diff(apart, axis=1)).sum(axis=(0, 1))
    swaps = ((apart > 0).any(axis=1) & (apart < 0).any(axis=1)).sum(axis=0)
    kinds = np.where(moves > 0, 0, np.where((apart != 0).any(axis=(0, 1)), 1, 2))
    strength = np.where(moves > 0, swaps * (int(moves.max(initial=0)) + 1) + moves, 0)
    return _bands(kinds, strength)


#: Heading of each band, and what the subtitle says of its tasks.
_TOLD = (
    (
        "Difference between agents changes with the budget: only these tasks can flip a ranking",
        "whose differences change with the budget",
    ),
    (
        "Agents differ, in the same way under every budget",
        "with constant differences",
    ),
    (
        "Same for all agents under each budget (PASS or not)",
        "alike (PASS or not) for all agents",
    ),
    ("Changes with the budget (PASS or not)", "that change with the budget"),
    ("Same under every budget (PASS or not)", "the same under every budget"),
)


def _bands(kinds: Counts, strength: Counts) -> list[Band]:
    found = []
    for kind, (title, told) in enumerate(_TOLD):
        tasks = [int(task) for task in np.flatnonzero(kinds == kind)]
        tasks.sort(key=lambda task: -int(strength[task]))
        if tasks:
            found.append(Band(title, told, tuple(tasks)))
    return found
