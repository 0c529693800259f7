"""noop: proposes nothing and never stops. It must be EXHAUSTED on every task.

Its clock is virtual and never ticks, so it ends at the first counted cap. Where a budget counts no
proposals, its endless empty proposals can only end at the clock: that cap is then the one it hits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from frozenbench.adapters.contract import Cell, ClockFell, Proposal, Turn
from frozenbench.controls import Agent
from frozenbench.outcomes import METERS as ALL_METERS

METERS = frozenset(ALL_METERS)
VIRTUAL_CLOCK = True


@dataclass(frozen=True)
class Options:
    """noop has no options."""


def check(agent: Agent, options: Options, where: str) -> None:
    """Nothing to check."""


@dataclass(frozen=True)
class Noop:
    """Proposes nothing, for ever."""

    counts_proposals: bool

    def propose(self, turn: Turn) -> Proposal:
        """Return an empty proposal, or end at the clock where nothing else can end it."""
        if not self.counts_proposals:
            raise ClockFell
        return Proposal(idle=True, note="proposes nothing")

    def settle(self, turn: Turn) -> bool:
        """Never done."""
        return False


@contextmanager
def open_agent(cell: Cell) -> Iterator[Noop]:
    """Give the agent."""
    yield Noop("tool_calls" in cell.caps)
