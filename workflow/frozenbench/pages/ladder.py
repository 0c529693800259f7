"""The budgets that the decision table answers under: one ladder, or all where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence

from frozenbench.pages.blocks import code, count, listed
from frozenbench.pages.inputs import PageInputs, Row
from frozenbench.stats.flips import axis_value, ladders


class Ladder:
    """The longest ladder of a view (of equals the first), and the first slice's numbers on it.

    Attributes:
        budgets: its budgets, the axis cap rising; all of the view where no two lie on one ladder.
        name: what the table of flips calls it, None where no two budgets lie on one ladder.
        others: the budgets of the view that are not on it.
        equals: how many ladders are as long.
    """

    def __init__(self, inputs: PageInputs) -> None:
        budgets = {name: inputs.controls["budgets"][name] for name in inputs.view["budgets"]}
        self.axis: str = inputs.view["budget_axis"]
        self._caps = {name: axis_value(caps, self.axis) for name, caps in budgets.items()}
        found = ladders(budgets, self.axis)
        longest = max(found, key=lambda ladder: len(ladder.budgets))
        self.name: str | None = longest.name
        self.budgets = longest.budgets
        if len(longest.budgets) == 1:
            self.name, self.budgets = None, tuple(sorted(budgets, key=self._place))
        self.others = [name for name in budgets if name not in self.budgets]
        self.equals = sum(len(ladder.budgets) == len(longest.budgets) for ladder in found)
        self.slice = inputs.slices[0]
        self.agents = tuple(inputs.view["agents"])
        self.points = {
            (row["agent"], row["budget"]): row
            for row in inputs.summary
            if row["slice"] == self.slice
        }
        self.inputs = inputs

    def _place(self, name: str) -> float:
        cap = self._caps[name]
        return math.inf if cap is None else cap

    @property
    def largest(self) -> str:
        """The budget with the largest cap on the axis; where no ladder is, of equals the last."""
        return self.budgets[-1]

    @property
    def largest_told(self) -> str:
        """The budget with the largest cap, and that it is."""
        name = code(self.largest)
        if len(self.budgets) + len(self.others) == 1:
            return f"{name}, the only one"
        if self.name is not None:
            return f"{name}, the largest{self.of_this}"
        none = self._caps[self.largest] is None
        return f"{name}, {'without a' if none else 'of the largest'} {code(self.axis)}"

    @property
    def of_this(self) -> str:
        """Words that tell the ladder from the others, nothing where there are none."""
        return " of this ladder" if self.others else ""

    @property
    def span(self) -> str:
        """The budgets in words."""
        if self.name is None:
            return listed([code(name) for name in self.budgets])
        return f"{code(self.budgets[0])} to {code(self.largest)}"

    @property
    def n(self) -> str:
        """The number of tasks in words."""
        return f"n = {count(self.inputs.facts(self.slice)['n_tasks'], 'task')}"

    def at(self, budget: str) -> list[Row]:
        """Return the agents' rows under a budget, best first, ties in the config's order."""
        rows = [self.points[agent, budget] for agent in self.agents]
        return sorted(rows, key=lambda row: -(row["weighted_pass_rate"] or 0.0))

    def cells(self, agent: str, budget: str) -> list[Row]:
        """Return the agent's cells under a budget that are in its rates."""
        return self.inputs.cells_of(self.slice, agent, budget)

    def exhausted(self, budget: str) -> int:
        """Return how many cells of all agents are EXHAUSTED under a budget."""
        return sum(
            cell["outcome"] == "EXHAUSTED"
            for agent in self.agents
            for cell in self.cells(agent, budget)
        )

    def under(self, budgets: Sequence[str]) -> str:
        """Return some of the view's budgets in words; neighbours on the ladder as a range."""
        if self.name is None or not set(budgets) <= set(self.budgets):
            return listed([code(name) for name in budgets])
        places = sorted(self.budgets.index(name) for name in budgets)
        if len(places) == len(self.budgets):
            whole = "both" if len(places) == 2 else f"all {len(places)}"
            return f"{whole} budgets{self.of_this}"
        if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
            return f"{code(self.budgets[places[0]])} to {code(self.budgets[places[-1]])}"
        return listed([code(self.budgets[place]) for place in places])
