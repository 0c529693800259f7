"""What the comparison of one slice finds: the rows of its tables and its headline numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["confirmed", "suggestive", "unresolved"]


@dataclass(frozen=True)
class Contrast:
    """Two agents under one budget; fields as the columns of `contrasts`.

    `low` and `high` hold 95 % for this contrast alone. `band_low` and `band_high` hold 95 % for all
    contrasts of the slice that have an interval at once: an illustration, nothing is decided by it.
    `n_for_80_power`: how many tasks like these would show this difference at Holm's first step,
    None where it is 0.
    """

    agent_a: str
    agent_b: str
    budget: str
    n_tasks: int
    rate_a: float
    rate_b: float
    delta: float
    statistic: int
    discordant: int
    p: float
    p_holm: float
    rejected: bool
    low: float | None
    high: float | None
    interval: Literal["tango", "adjusted_tango"] | None
    band_low: float | None
    band_high: float | None
    n_for_80_power: int | None


@dataclass(frozen=True)
class Flip:
    """One crossing of two agents on a ladder; fields as the columns of `flips`.

    `support` is that of the crossing, and None where it is confirmed: there the tests decide, over
    budgets that can lie farther apart.
    """

    agent_a: str
    agent_b: str
    ladder: str
    budget_from: str
    budget_to: str
    kind: Kind
    support: float | None
    confirmed_from: str | None
    confirmed_to: str | None
    old_leader: str
    new_leader: str
    lead: bool


@dataclass(frozen=True)
class Rank:
    """An agent's rank under a budget, with its interval and the rank under unit weights."""

    rank: int
    rank_low: int
    rank_high: int
    rank_unweighted: int


@dataclass(frozen=True)
class Area:
    """An agent's weighted pass rate averaged over log budget; fields as the columns of `areas`.

    From the smallest to the largest cap that the ladder has, straight between the budgets that were
    run: a summary without one budget, and no more than that. No rank and no test comes from it.
    """

    agent: str
    ladder: str
    budget_from: str
    budget_to: str
    axis_from: float
    axis_to: float
    budgets: int
    area: float
    area_low: float
    area_high: float


@dataclass(frozen=True)
class Facts:
    """The headline numbers of one slice; fields as in statistics.json.

    A pair of agents counts once, as the strongest kind that it has on any ladder.
    `min_discordant`: the fewest discordant tasks, all one way, that Holm's first step rejects.
    `cannot_confirm`: there are fewer tasks than that, so that no contrast can be rejected.
    `few_tasks`: no flip is confirmed, and that takes more than half of the tasks, but not all.
    `n_for_80_power` is that of the clearest contrast, the one with the largest (Σ s)²/Σ s².
    `band_critical` is the half width of the band in standard errors, None where none is drawn.
    `weight_notice` is a sentence on weights that rest on few tasks, None where there is no need.
    """

    n_tasks: int
    pairs: int
    contrasts: int
    confirmed_pairs: int
    suggestive_pairs: int
    unresolved_pairs: int
    min_discordant: int
    cannot_confirm: bool
    few_tasks: bool
    n_for_80_power: int | None
    n_for_80_power_contrast: tuple[str, str, str] | None
    band_critical: float | None
    weight_notice: str | None
    rank_differs_unweighted: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """What `compare` finds; ranks by (agent, budget), the rest in config order."""

    contrasts: tuple[Contrast, ...]
    flips: tuple[Flip, ...]
    ranks: Mapping[tuple[str, str], Rank]
    areas: tuple[Area, ...]
    facts: Facts
