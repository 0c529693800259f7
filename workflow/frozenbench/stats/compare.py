"""All contrasts, ranks and flips of one slice: PROTOCOL 8 put together, as a pure function."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from frozenbench.stats import flips as ladder_flips
from frozenbench.stats import power
from frozenbench.stats.areas import area, area_weights
from frozenbench.stats.band import MaxT, standard_error
from frozenbench.stats.concentration import weight_notice
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.grid import Grid, IntArray
from frozenbench.stats.holm import holm
from frozenbench.stats.intervals import (
    LEVEL,
    MIN_DISCORDANT_FOR_INTERVAL,
    adjusted_tango,
    tango,
)
from frozenbench.stats.ranks import order_differs, rank_intervals, shared_ranks
from frozenbench.stats.resample import index_matrix, resampled_totals, support
from frozenbench.stats.results import Area, Comparison, Contrast, Facts, Flip, Kind, Rank

#: Support from which a crossing that is not confirmed is called suggestive.
SUGGESTIVE_SUPPORT = Fraction(95, 100)

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


def compare(grid: Grid, settings: Settings) -> Comparison:
    """Compare all pairs of agents under all budgets of one slice.

    The Holm family is pairs × budgets of this slice: slices are never pooled, so each holds its
    own family-wise error. The result depends on the arguments alone.
    """
    draws = _draw(grid, settings)
    ladders = _ladders(grid, settings)
    ranks = _ranks(grid, draws)
    contrasts, critical = _contrasts(grid, settings, draws)
    flips = _flips(grid, ladders, contrasts, draws, ranks)
    areas = [row for ladder in ladders for row in _areas(grid, settings, ladder)]
    facts = _facts(grid, settings, contrasts, flips, critical)
    return Comparison(tuple(contrasts), tuple(flips), ranks, tuple(areas), facts)


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


def _ladders(grid: Grid, settings: Settings) -> list[ladder_flips.Ladder]:
    held = {name: settings.budgets[name] for name in grid.budgets}
    return ladder_flips.ladders(held, settings.axis)


def _contrasts(
    grid: Grid, settings: Settings, draws: _Draws
) -> tuple[list[Contrast], float | None]:
    """Return all contrasts, and the half width of their band in standard errors."""
    weighted = grid.weighted
    keys = [(a, b, place) for a, b in _pairs(grid) for place in range(len(grid.budgets))]
    differences = [weighted[a, place] - weighted[b, place] for a, b, place in keys]
    p_values = [sign_flip_p(values) for values in differences]
    adjusted = holm(p_values)
    level = power.first_step(len(keys), settings.alpha)
    band = MaxT(settings.resamples)
    found: list[Contrast] = []
    errors: list[float | None] = []
    for number, ((a, b, place), s) in enumerate(zip(keys, differences, strict=True)):
        contrast = dataclasses.replace(
            _contrast(grid, keys[number], s),
            p=p_values[number],
            p_holm=adjusted[number],
            rejected=adjusted[number] <= settings.alpha,
            n_for_80_power=power.tasks_for_power(s, level),
        )
        error = None
        if contrast.interval and (error := standard_error(s, grid.weights, grid.repeats)):
            deltas = (draws.totals[a, place] - draws.totals[b, place]) / draws.whole
            band.add(deltas, contrast.delta, error)
        found.append(contrast)
        errors.append(error)
    critical = band.critical(LEVEL)
    return [_banded(c, error, critical) for c, error in zip(found, errors, strict=True)], critical


def _contrast(grid: Grid, key: tuple[int, int, int], s: IntArray) -> Contrast:
    """Return what a contrast is by itself: nothing yet of its test, the family or the band."""
    a, b, place = key
    discordant, statistic = int(np.count_nonzero(s)), int(s.sum())
    low, high, interval = _interval(grid, s, discordant)
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
        p=1.0,
        p_holm=1.0,
        rejected=False,
        low=low,
        high=high,
        interval=interval,
        band_low=None,
        band_high=None,
        n_for_80_power=None,
    )


def _banded(contrast: Contrast, error: float | None, critical: float | None) -> Contrast:
    """Return the contrast with its part of the band, where it has an interval."""
    if not error or critical is None:
        return contrast
    low, high = contrast.delta - critical * error, contrast.delta + critical * error
    return dataclasses.replace(contrast, band_low=max(-1.0, low), band_high=min(1.0, high))


def _interval(
    grid: Grid, differences: IntArray, discordant: int
) -> tuple[float | None, float | None, Literal["tango", "adjusted_tango"] | None]:
    if discordant < MIN_DISCORDANT_FOR_INTERVAL:
        return None, None, None
    if grid.unit:
        ahead = int(np.count_nonzero(differences > 0))
        ends = tango(ahead, discordant - ahead, len(grid.tasks), LEVEL)
        return (*ends, "tango") if ends else (None, None, None)
    ends = adjusted_tango(differences, grid.weights, grid.repeats, LEVEL)
    return (*ends, "adjusted_tango") if ends else (None, None, None)


def _areas(grid: Grid, settings: Settings, ladder: ladder_flips.Ladder) -> list[Area]:
    """Return the area of each agent over the capped budgets of a ladder, none of fewer than two.

    No cap, and a cap of 0, have no place on a logarithm.
    """
    caps = {
        name: cap
        for name in ladder.budgets
        if (cap := ladder_flips.axis_value(settings.budgets[name], settings.axis))
    }
    names, values = list(caps), list(caps.values())
    shares = area_weights(values)
    if shares is None:
        return []
    places = [grid.budgets.index(name) for name in names]
    return [
        Area(
            agent,
            ladder.name,
            names[0],
            names[-1],
            values[0],
            values[-1],
            len(names),
            *area(grid.totals[number, places].tolist(), grid.whole, shares, grid.weights),
        )
        for number, agent in enumerate(grid.agents)
    ]


def _flips(
    grid: Grid,
    rungs: Sequence[ladder_flips.Ladder],
    contrasts: Sequence[Contrast],
    draws: _Draws,
    ranks: Mapping[tuple[str, str], Rank],
) -> list[Flip]:
    by_key = {(c.agent_a, c.agent_b, c.budget): c for c in contrasts}
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
    grid: Grid,
    settings: Settings,
    contrasts: Sequence[Contrast],
    flips: Sequence[Flip],
    critical: float | None,
) -> Facts:
    kinds: dict[tuple[str, str], set[Kind]] = {}
    for flip in flips:
        kinds.setdefault((flip.agent_a, flip.agent_b), set()).add(flip.kind)
    strongest = [
        next(kind for kind in ("confirmed", "suggestive", "unresolved") if kind in held)
        for held in kinds.values()
    ]
    least = power.min_discordant(len(contrasts), settings.alpha)
    clearest = _clearest(grid, contrasts)
    confirmed = strongest.count("confirmed")
    return Facts(
        n_tasks=len(grid.tasks),
        pairs=len(_pairs(grid)),
        contrasts=len(contrasts),
        confirmed_pairs=confirmed,
        suggestive_pairs=strongest.count("suggestive"),
        unresolved_pairs=strongest.count("unresolved"),
        min_discordant=least,
        cannot_confirm=power.cannot_confirm(least, len(grid.tasks)),
        few_tasks=bool(contrasts) and not confirmed and power.few_tasks(least, len(grid.tasks)),
        n_for_80_power=None if clearest is None else clearest.n_for_80_power,
        n_for_80_power_contrast=None
        if clearest is None
        else (clearest.agent_a, clearest.agent_b, clearest.budget),
        band_critical=critical,
        weight_notice=weight_notice(grid.weights.tolist()),
        rank_differs_unweighted=_unit_differences(grid),
    )


def _clearest(grid: Grid, contrasts: Sequence[Contrast]) -> Contrast | None:
    """Return the contrast with the largest (Σ s)²/Σ s² (of equals the first), None if all are 0."""
    agents = {name: number for number, name in enumerate(grid.agents)}
    budgets = {name: number for number, name in enumerate(grid.budgets)}
    best, found = Fraction(0), None
    for contrast in contrasts:
        place = budgets[contrast.budget]
        first, second = (agents[name] for name in (contrast.agent_a, contrast.agent_b))
        clear = power.clearness(grid.weighted[first, place] - grid.weighted[second, place])
        if clear > best:
            best, found = clear, contrast
    return found


def _unit_differences(grid: Grid) -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (grid.agents[a], grid.agents[b], grid.budgets[place])
        for a, b in _pairs(grid)
        for place in range(len(grid.budgets))
        if order_differs(grid.totals[[a, b], place], grid.unit_totals[[a, b], place])
    )
