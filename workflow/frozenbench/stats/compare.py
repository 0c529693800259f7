"""All contrasts, ranks and flips of one slice: PROTOCOL 8 put together, as a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from frozenbench.stats import flips as ladder_flips
from frozenbench.stats import power
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.grid import Grid, IntArray
from frozenbench.stats.holm import holm
from frozenbench.stats.intervals import LEVEL, MIN_DISCORDANT_FOR_INTERVAL, tango
from frozenbench.stats.ranks import order_differs, rank_intervals, shared_ranks
from frozenbench.stats.resample import central, index_matrix, resampled_totals, support

#: Support from which a crossing that is not confirmed is called suggestive.
SUGGESTIVE_SUPPORT = Fraction(95, 100)

Kind = Literal["confirmed", "suggestive", "unresolved"]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What the comparison is made with.

    Attributes:
        budgets: name -> caps, as the controls hold them.
        axis: the cap along which ladders rise, such as `max_tool_calls`.
        resamples: resamples of tasks, ≥ 1.
        alpha: family-wise error of the contrasts of a slice.
        seed: the experiment digest, hex.
    """

    budgets: Mapping[str, Mapping[str, float | None]]
    axis: str
    resamples: int
    alpha: float
    seed: str


@dataclass(frozen=True)
class Contrast:
    """Two agents under one budget; fields as the columns of `contrasts`."""

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
    interval: Literal["tango", "bootstrap"] | None


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
class Facts:
    """The headline numbers of one slice; fields as in statistics.json.

    A pair of agents counts once, as the strongest kind that it has on any ladder.
    `n_for_80_power` is that of the clearest contrast, the one with the largest (Σ s)²/Σ s².
    """

    n_tasks: int
    pairs: int
    contrasts: int
    confirmed_pairs: int
    suggestive_pairs: int
    unresolved_pairs: int
    min_discordant: int
    cannot_confirm: bool
    n_for_80_power: int | None
    n_for_80_power_contrast: tuple[str, str, str] | None
    rank_differs_unweighted: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """What `compare` finds; ranks by (agent, budget), the rest in config order."""

    contrasts: tuple[Contrast, ...]
    flips: tuple[Flip, ...]
    ranks: Mapping[tuple[str, str], Rank]
    facts: Facts


def compare(grid: Grid, settings: Settings) -> Comparison:
    """Compare all pairs of agents under all budgets of one slice.

    The Holm family is pairs × budgets of this slice: slices are never pooled, so each holds its
    own family-wise error. The result depends on the arguments alone.
    """
    draws = _draw(grid, settings)
    ranks = _ranks(grid, draws)
    contrasts = _contrasts(grid, settings, draws)
    flips = _flips(grid, settings, contrasts, draws, ranks)
    return Comparison(
        tuple(contrasts), tuple(flips), ranks, _facts(grid, settings, contrasts, flips)
    )


@dataclass(frozen=True)
class _Draws:
    """Σ w k of agents × budgets in each resample (A, B, R), and Σ w × repeats (R,)."""

    totals: _Floats
    whole: _Floats


def _draw(grid: Grid, settings: Settings) -> _Draws:
    values = grid.weighted.reshape(-1, len(grid.tasks))
    index = index_matrix(settings.seed, settings.resamples, len(grid.tasks))
    totals = resampled_totals(index, np.vstack([values, grid.weights * grid.repeats]))
    shape = (len(grid.agents), len(grid.budgets), settings.resamples)
    return _Draws(totals[:-1].reshape(shape), totals[-1])


def _pairs(grid: Grid) -> list[tuple[int, int]]:
    return list(combinations(range(len(grid.agents)), 2))


def _ranks(grid: Grid, draws: _Draws) -> dict[tuple[str, str], Rank]:
    found: dict[tuple[str, str], Rank] = {}
    for place, budget in enumerate(grid.budgets):
        ranks = shared_ranks(grid.totals[:, place].tolist())
        unit = shared_ranks(grid.unit_totals[:, place].tolist())
        ends = rank_intervals(draws.totals[:, place, :], ranks, LEVEL)
        for agent, name in enumerate(grid.agents):
            found[name, budget] = Rank(ranks[agent], *ends[agent], unit[agent])
    return found


def _contrasts(grid: Grid, settings: Settings, draws: _Draws) -> list[Contrast]:
    weighted = grid.weighted
    keys = [(a, b, place) for a, b in _pairs(grid) for place in range(len(grid.budgets))]
    p_values = [sign_flip_p(weighted[a, place] - weighted[b, place]) for a, b, place in keys]
    return [
        _contrast(grid, draws, key, p, p_holm, p_holm <= settings.alpha)
        for key, p, p_holm in zip(keys, p_values, holm(p_values), strict=True)
    ]


def _contrast(
    grid: Grid, draws: _Draws, key: tuple[int, int, int], p: float, p_holm: float, rejected: bool
) -> Contrast:
    a, b, place = key
    differences = (grid.passes[a, place] - grid.passes[b, place]) * grid.weights
    discordant = int(np.count_nonzero(differences))
    statistic = int(differences.sum())
    low, high, interval = _difference_interval(grid, draws, key, differences, discordant)
    return Contrast(
        agent_a=grid.agents[a],
        agent_b=grid.agents[b],
        budget=grid.budgets[place],
        n_tasks=len(grid.tasks),
        rate_a=int(grid.totals[a, place]) / grid.whole,
        rate_b=int(grid.totals[b, place]) / grid.whole,
        delta=statistic / grid.whole,
        statistic=statistic,
        discordant=discordant,
        p=p,
        p_holm=p_holm,
        rejected=rejected,
        low=low,
        high=high,
        interval=interval,
    )


def _difference_interval(
    grid: Grid, draws: _Draws, key: tuple[int, int, int], differences: IntArray, discordant: int
) -> tuple[float | None, float | None, Literal["tango", "bootstrap"] | None]:
    a, b, place = key
    if discordant < MIN_DISCORDANT_FOR_INTERVAL:
        return None, None, None
    if grid.unit:
        ahead = int(np.count_nonzero(differences > 0))
        ends = tango(ahead, discordant - ahead, len(grid.tasks), LEVEL)
        return (*ends, "tango") if ends else (None, None, None)
    deltas = (draws.totals[a, place] - draws.totals[b, place]) / draws.whole
    return (*central(deltas, LEVEL), "bootstrap")


def _flips(
    grid: Grid,
    settings: Settings,
    contrasts: Sequence[Contrast],
    draws: _Draws,
    ranks: Mapping[tuple[str, str], Rank],
) -> list[Flip]:
    by_key = {(c.agent_a, c.agent_b, c.budget): c for c in contrasts}
    held = {name: settings.budgets[name] for name in grid.budgets}
    rungs = ladder_flips.ladders(held, settings.axis)
    found: list[Flip] = []
    for a, b in _pairs(grid):
        for ladder in rungs:
            line = [by_key[grid.agents[a], grid.agents[b], name] for name in ladder.budgets]
            signs = [(c.statistic > 0) - (c.statistic < 0) for c in line]
            for step, pair in ladder_flips.marks(signs, [c.rejected for c in line]):
                share = None
                if pair is None:
                    places = [grid.budgets.index(ladder.budgets[place]) for place in step]
                    first, second = (draws.totals[a, i] - draws.totals[b, i] for i in places)
                    share = support(first, second, signs[step[0]])
                found.append(_flip(ladder, line, step, pair, share, ranks))
    return found


def _flip(
    ladder: ladder_flips.Ladder,
    line: Sequence[Contrast],
    step: ladder_flips.Step,
    pair: ladder_flips.Step | None,
    share: Fraction | None,
    ranks: Mapping[tuple[str, str], Rank],
) -> Flip:
    before = line[step[0]]
    agents = before.agent_a, before.agent_b
    old, new = agents if before.statistic > 0 else agents[::-1]
    kind: Kind = "unresolved"
    start = end = None
    lead = False
    if share is not None and share >= SUGGESTIVE_SUPPORT:
        kind = "suggestive"
    if pair is not None:
        kind = "confirmed"
        start, end = (ladder.budgets[place] for place in pair)
        lead = ranks[old, start].rank == 1 and ranks[new, end].rank == 1
    return Flip(
        agent_a=agents[0],
        agent_b=agents[1],
        ladder=ladder.name,
        budget_from=ladder.budgets[step[0]],
        budget_to=ladder.budgets[step[1]],
        kind=kind,
        support=None if share is None else float(share),
        confirmed_from=start,
        confirmed_to=end,
        old_leader=old,
        new_leader=new,
        lead=lead,
    )


def _facts(
    grid: Grid, settings: Settings, contrasts: Sequence[Contrast], flips: Sequence[Flip]
) -> Facts:
    kinds: dict[tuple[str, str], set[Kind]] = {}
    for flip in flips:
        kinds.setdefault((flip.agent_a, flip.agent_b), set()).add(flip.kind)
    strongest = [
        next(kind for kind in ("confirmed", "suggestive", "unresolved") if kind in held)
        for held in kinds.values()
    ]
    least = power.min_discordant(len(contrasts), settings.alpha)
    needed, named = _tasks_needed(grid, settings, contrasts)
    return Facts(
        n_tasks=len(grid.tasks),
        pairs=len(_pairs(grid)),
        contrasts=len(contrasts),
        confirmed_pairs=strongest.count("confirmed"),
        suggestive_pairs=strongest.count("suggestive"),
        unresolved_pairs=strongest.count("unresolved"),
        min_discordant=least,
        cannot_confirm=power.cannot_confirm(least, len(grid.tasks)),
        n_for_80_power=needed,
        n_for_80_power_contrast=named,
        rank_differs_unweighted=_unit_differences(grid),
    )


def _tasks_needed(
    grid: Grid, settings: Settings, contrasts: Sequence[Contrast]
) -> tuple[int | None, tuple[str, str, str] | None]:
    """Return the n for 80 % power of the clearest contrast (of equals the first), and its name."""
    weighted = grid.weighted
    best, clearest, named = Fraction(0), None, None
    for contrast in contrasts:
        a, b = grid.agents.index(contrast.agent_a), grid.agents.index(contrast.agent_b)
        place = grid.budgets.index(contrast.budget)
        differences = weighted[a, place] - weighted[b, place]
        if (clear := power.clearness(differences)) > best:
            best, clearest = clear, differences
            named = (contrast.agent_a, contrast.agent_b, contrast.budget)
    if clearest is None:
        return None, None
    level = power.first_step(len(contrasts), settings.alpha)
    return power.tasks_for_power(clearest, grid.unit, level), named


def _unit_differences(grid: Grid) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (grid.agents[a], grid.agents[b], grid.budgets[place])
        for a, b in _pairs(grid)
        for place in range(len(grid.budgets))
        if order_differs(grid.totals[[a, b], place], grid.unit_totals[[a, b], place])
    )
