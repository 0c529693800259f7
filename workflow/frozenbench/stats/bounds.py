"""The other bound of a rate: EXHAUSTED left out of it, where the headline counts it as wrong."""

from __future__ import annotations

from dataclasses import dataclass

from frozenbench.stats.grid import Grid


@dataclass(frozen=True)
class LeftOut:
    """Rates over the cells that are not EXHAUSTED; fields as the columns of `summary`.

    None where every cell is EXHAUSTED. Which cells are left out depends on the agent and the
    budget, so these rates are of different tasks for each: they are in no rank, test or figure.
    """

    n_without_exhausted: int
    pass_rate_without_exhausted: float | None
    weighted_pass_rate_without_exhausted: float | None


def left_out(passed: Grid, exhausted: Grid) -> dict[tuple[str, str], LeftOut]:
    """Return them by (agent, budget).

    `passed` counts PASS and `exhausted` EXHAUSTED among the repeats of the same cells.
    """
    found: dict[tuple[str, str], LeftOut] = {}
    whole, cells = passed.whole, len(passed.tasks) * passed.repeats
    for a, agent in enumerate(passed.agents):
        for b, budget in enumerate(passed.budgets):
            weight = whole - int(exhausted.totals[a, b])
            count = cells - int(exhausted.unit_totals[a, b])
            found[agent, budget] = LeftOut(
                count,
                int(passed.unit_totals[a, b]) / count if count else None,
                int(passed.totals[a, b]) / weight if weight else None,
            )
    return found
