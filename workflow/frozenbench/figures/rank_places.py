"""Where the marks of the panel of ranks stand: tied agents beside each other, no bar on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frozenbench.figures.inputs import Inputs
from frozenbench.figures.marks import Panel, standing
from frozenbench.figures.scale import Scale
from frozenbench.figures.style import Look

#: Diameter of a mark in points.
MARKER = 7.5
#: Distance of tied marks, sideways, and of their lines, inches.
_TIED, _LINES = 0.118, 0.105
#: Inches from the centre of an outer mark to the edge of the pill behind tied ones.
PILL = 0.078
_ROOM = 2 * PILL + 0.05
#: The share of the distance of two ranks that the lines of tied agents may take.
_OF_A_RANK = 0.6
#: Least distance of two bars of a budget, inches, and the half steps that a group may move.
_BARS, _SHIFTS = 0.03, 24

#: (x, rank) of one agent's marks by rung; None where there is no rank.
Places = list[tuple[float, float] | None]


@dataclass(frozen=True)
class RankPlaces:
    """Where marks stand.

    Attributes:
        spots: of each agent, (x, y in ranks) by rung.
        groups: agents that share a rank under a budget, two or more: (rung, agents). Coloured ones
            stand beside each other; pale ones share one place, beside coloured ones where there
            are any, so that no mark covers their end.
        size: share of their size at which marks are drawn.
    """

    spots: Mapping[str, Places]
    groups: tuple[tuple[int, tuple[str, ...]], ...]
    size: float


def rank_limits(agents: int) -> tuple[float, float]:
    """Return the limits of y, bottom first."""
    return max(agents, 2) + 0.5, 0.5


def place_ranks(panel: Panel, inputs: Inputs, looks: Mapping[str, Look]) -> RankPlaces:
    """Return where each agent's marks stand.

    Tied agents stand in a slanting row around their rank, so that the line of each passes clear of
    the others' marks; above is who ranks better under the nearest other budgets.
    """
    ranks = {agent: inputs.series(agent, "rank") for agent in inputs.agents}
    scale, rungs = panel.scale, range(len(inputs.rungs))
    beside = standing(scale, looks)
    groups = [_with_pale(_groups(list(looks), ranks, rung), ranks, rung) for rung in rungs]
    size, _ = scale.shrink([max(map(len, found), default=1) for found in groups], _TIED, _ROOM)
    low, high = rank_limits(len(inputs.agents))
    pitch = panel.height / (low - high)
    spots: dict[str, Places] = {agent: [] for agent in inputs.agents}
    for rung, x in enumerate(scale.places):
        for agent in inputs.agents:
            rank = ranks[agent][rung]
            spots[agent].append(None if rank is None else (x, rank))
        alone = {agent: beside.offsets[agent][rung] / scale.per_inch for agent in looks}
        sides = _sides(scale, rung, groups[rung], alone, size)
        for group in groups[rung]:
            for place, agent in enumerate(group):
                level = _level(len(group), place, pitch) if len(rungs) > 1 else 0.0
                rank = ranks[agent][rung]
                assert rank is not None
                spots[agent][rung] = (x + sides[agent] * scale.per_inch, rank + level)
        pale = [name for group in groups[rung] for name in group if name not in looks]
        held = {ranks[name][rung]: spots[name][rung] for name in pale}
        for agent in inputs.agents:
            if agent not in looks and ranks[agent][rung] in held:
                spots[agent][rung] = held[ranks[agent][rung]]
    tied = [(rung, group) for rung in rungs for group in _groups(inputs.agents, ranks, rung)]
    return RankPlaces(spots, tuple(shared for shared in tied if len(shared[1]) > 1), size)


def _with_pale(
    groups: Sequence[tuple[str, ...]], ranks: Mapping[str, list[float | None]], rung: int
) -> list[tuple[str, ...]]:
    """Return the groups of coloured agents, each with the first pale one of its rank, if any.

    It holds the place of all pale ones of that rank: many of them would leave the others no room.
    """
    coloured = {agent for group in groups for agent in group}
    found = []
    for group in groups:
        rank = ranks[group[0]][rung]
        pale = [name for name in ranks if name not in coloured and ranks[name][rung] == rank]
        whole = (*group, *pale[:1])
        found.append(tuple(sorted(whole, key=lambda name: _around(ranks[name], rung))))
    return sorted(found, key=lambda group: -len(group))


def _groups(
    agents: Sequence[str], ranks: Mapping[str, list[float | None]], rung: int
) -> list[tuple[str, ...]]:
    """Return the agents by rank, the most tied first; inside a group who ranks better around."""
    held: dict[float, list[str]] = {}
    for agent in agents:
        rank = ranks[agent][rung]
        if rank is not None:
            held.setdefault(rank, []).append(agent)
    ordered = [
        sorted(group, key=lambda name: _around(ranks[name], rung)) for group in held.values()
    ]
    return sorted(map(tuple, ordered), key=lambda group: -len(group))


def _around(ranks: Sequence[float | None], rung: int) -> list[float]:
    """Return the mean rank one budget away, two budgets away, …"""
    means = []
    for far in range(1, len(ranks)):
        near = [ranks[at] for at in (rung - far, rung + far) if 0 <= at < len(ranks)]
        known = [rank for rank in near if rank is not None]
        means.append(sum(known) / len(known) if known else 0.0)
    return means


def _level(count: int, place: int, pitch: float) -> float:
    """Return how far, in ranks, a tied agent's line runs from the rank itself."""
    if count == 1:
        return 0.0
    apart = min(_LINES / pitch, _OF_A_RANK / (count - 1))
    return (place - (count - 1) / 2) * apart


def _sides(
    scale: Scale,
    rung: int,
    groups: Sequence[tuple[str, ...]],
    alone: Mapping[str, float],
    size: float,
) -> dict[str, float]:
    """Return how far, in inches, each mark stands from its budget's tick.

    Whole groups move sideways until no two bars of the budget lie on each other.
    """
    if len(scale.places) == 1:
        return dict(alone)
    room = scale.rooms[rung]
    least = min(0.9 * _BARS, 0.8 * sum(room) / max(1, sum(map(len, groups))))
    found: dict[str, float] = {}
    for group in groups:
        own = scale.stand(rung, len(group), _TIED * size, _ROOM * size)
        if len(group) == 1:
            own = [alone[group[0]]]
        shift = _shift(own, list(found.values()), least, room)
        found |= {agent: x + shift for agent, x in zip(group, own, strict=True)}
    return found


def _shift(
    own: Sequence[float], taken: Sequence[float], least: float, room: tuple[float, float]
) -> float:
    """Return the smallest move inside `room` that keeps `own` clear of what is taken, if one can."""
    shifts = [side * n * least / 2 for n in range(_SHIFTS) for side in (1, -1)]
    left, right = room
    inside = [shift for shift in shifts if -left <= own[0] + shift and own[-1] + shift <= right]

    def clearance(shift: float) -> float:
        nearest = min((abs(x + shift - other) for x in own for other in taken), default=least)
        return round(min(least, nearest), 6)

    # Of equals `max` takes the first: the least move.
    return max(inside or [0.0], key=clearance)
