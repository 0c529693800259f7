"""reference: one proposal with the pack's reference solution. It must PASS every task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from frozenbench.adapters.contract import AgentCrashed, Cell, Proposal, Turn
from frozenbench.canonical import File
from frozenbench.controls import Agent
from frozenbench.outcomes import METERS as ALL_METERS

METERS = frozenset(ALL_METERS)
VIRTUAL_CLOCK = True


@dataclass(frozen=True)
class Options:
    """reference has no options."""


def check(agent: Agent, options: Options, where: str) -> None:
    """Nothing to check."""


@dataclass(frozen=True)
class Reference:
    """Lays the solution over the fixture and is done."""

    solution: Mapping[str, File]

    def propose(self, turn: Turn) -> Proposal:
        """Return the whole tree with the solution in it."""
        return Proposal(
            tree={**turn.tree, **self.solution}, done=True, note="the reference solution"
        )

    def settle(self, turn: Turn) -> bool:
        """Done by its proposal."""
        return True


@contextmanager
def open_agent(cell: Cell) -> Iterator[Reference]:
    """Give the agent; the solution is read by the cell command, never by another agent."""
    if cell.solution is None:
        raise AgentCrashed("the task has no reference solution")
    yield Reference(cell.solution)
