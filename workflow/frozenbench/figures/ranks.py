"""The panel of ranks: one line an agent, 1 on top, with a ring at every flip."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs, Row
from frozenbench.figures.marks import Panel, line_style
from frozenbench.figures.style import Look

_SAMPLES = 48
_MARKER = 7.5
#: Inches between the marks of agents that share a rank, sideways; and between their lines.
_TIED, _RIBBON = 0.118, 0.022
#: Inches between two bars of a budget, and the half steps that a group of tied marks may move.
_BARS, _SHIFTS = 0.03, 7
#: Diameter of a ring and how much a ring around another is wider, points.
_RING, _RING_STEP = 10.0, 4.5
#: More rings than this hide the lines.
_MOST_RINGS = 24
_DOTTED = (0, (1.0, 1.3))

#: (x, y) of one agent's marks by rung; None where there is no rank.
_Places = list[tuple[float, float] | None]


def panel_height(agents: int, coloured: int) -> float:
    """Return the panel's height in inches: all agents are named at its right."""
    pitch = 0.17 if coloured == agents else 0.122
    return max(1.27, pitch * agents + 0.1)


def rank_limits(agents: int) -> tuple[float, float]:
    """Return the limits of y, bottom first."""
    return max(agents, 2) + 0.5, 0.5


def mark_places(panel: Panel, inputs: Inputs, looks: Mapping[str, Look]) -> dict[str, _Places]:
    """Return where each agent's marks lie (x, rank): tied agents beside each other, none hidden."""
    ranks = {agent: inputs.series(agent, "rank") for agent in inputs.agents}
    dodge = panel.dodge(looks)
    places: dict[str, _Places] = {agent: [] for agent in inputs.agents}
    low, high = rank_limits(len(inputs.agents))
    ribbon = _RIBBON * (low - high) / panel.height
    for rung, x in enumerate(panel.scale.places):
        for agent in inputs.agents:
            rank = ranks[agent][rung]
            if rank is None:
                places[agent].append(None)
                continue
            tied = [name for name in looks if ranks[name][rung] == rank]
            if agent not in tied or len(tied) == 1 or len(panel.scale.places) == 1:
                places[agent].append((x + dodge.get(agent, 0.0), rank))
                continue
            at = tied.index(agent)
            side = panel.scale.offsets(len(tied), panel.width, _TIED)[at]
            places[agent].append((x + side, rank + (at - (len(tied) - 1) / 2) * ribbon))
    for rung in range(len(panel.scale.places)):
        _keep_bars_apart(panel, [places[agent] for agent in looks], rung)
    return places


def _keep_bars_apart(panel: Panel, drawn: Sequence[_Places], rung: int) -> None:
    """Move whole groups of tied marks sideways until no two bars of a budget lie on each other."""
    groups: dict[int, list[_Places]] = {}
    for places in drawn:
        if (spot := places[rung]) is not None:
            groups.setdefault(round(spot[1]), []).append(places)
    if len(panel.scale.places) == 1 or all(len(group) == 1 for group in groups.values()):
        return
    least = 0.9 * min(_BARS, 0.25 * panel.scale.least / panel.scale.per_inch(panel.width))
    step = _BARS * panel.scale.per_inch(panel.width) / 2
    taken: list[float] = []
    for group in sorted(groups.values(), key=len, reverse=True):
        spots = [spot for places in group if (spot := places[rung]) is not None]

        def clear(shift: float, own: Sequence[tuple[float, float]] = spots) -> bool:
            gaps = [abs(x + shift - other) for x, _ in own for other in taken]
            return min(gaps, default=math.inf) >= least * panel.scale.per_inch(panel.width)

        shifts = [side * n * step for n in range(_SHIFTS) for side in (1, -1)]
        shift = next((shift for shift in shifts if clear(shift)), 0.0)
        for places, (x, y) in zip(group, spots, strict=True):
            places[rung] = (x + shift, y)
            taken.append(x + shift)


def curve(places: _Places) -> tuple[list[float], list[float]]:
    """Return the line through an agent's marks: 3t² − 2t³ between neighbours, a gap at None."""
    xs: list[float] = []
    ys: list[float] = []
    for start, end in pairwise(places):
        if start is None or end is None:
            xs.append(math.nan)
            ys.append(math.nan)
            continue
        t = np.linspace(0, 1, _SAMPLES)
        xs += (start[0] + (end[0] - start[0]) * t).tolist()
        ys += (start[1] + (end[1] - start[1]) * (3 * t**2 - 2 * t**3)).tolist()
    return xs, ys


def draw_ranks(panel: Panel, inputs: Inputs, looks: Mapping[str, Look]) -> None:
    """Draw lines, marks, rank intervals wider than one rank, and rings."""
    axes, places = panel.axes, mark_places(panel, inputs, looks)
    for agent in inputs.agents:
        look, front = looks.get(agent, style.REST), agent in looks
        xs, ys = curve(places[agent])
        axes.plot(
            xs,
            ys,
            color=look.mark,
            linewidth=1.8 if front else 0.8,
            linestyle=line_style(inputs),
            zorder=4 if front else 2,
            clip_on=False,
        )
        known = [place for place in places[agent] if place is not None]
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
            linestyle="none",
            color=look.mark,
            marker=look.marker,
            markersize=_MARKER * look.size / 5.2 if front else look.size,
            markeredgecolor="white" if front else look.mark,
            markeredgewidth=0.7 if front else 0,
            zorder=5 if front else 2,
            clip_on=False,
            label=agent,
        )
        if front:
            _draw_intervals(panel, inputs, agent, places[agent], look)
    draw_rings(panel.figure, rings(panel, inputs, places, looks))


def _draw_intervals(panel: Panel, inputs: Inputs, agent: str, places: _Places, look: Look) -> None:
    ends = zip(
        places, inputs.series(agent, "rank_low"), inputs.series(agent, "rank_high"), strict=True
    )
    bars = [
        (place[0], low, high)
        for place, low, high in ends
        if place is not None and low is not None and high is not None and high > low
    ]
    if bars:
        panel.axes.vlines(
            *zip(*bars, strict=True), color=look.mark, linewidth=1.1, alpha=0.55, zorder=3
        )


@dataclass(frozen=True)
class Ring:
    """A flip's ring: its centre in inches from the upper left corner, diameter in points."""

    x: float
    y: float
    diameter: float
    confirmed: bool
    pair: tuple[str, str]


def rings(
    panel: Panel,
    inputs: Inputs,
    places: Mapping[str, _Places],
    looks: Mapping[str, Look],
) -> list[Ring]:
    """Return one ring for each confirmed or suggestive flip, where the two lines cross.

    Where several pairs cross at one spot, each has its own ring, around the others.
    """
    found: list[Ring] = []
    ringed, _ = ringed_flips(inputs, looks)
    for row in sorted(ringed, key=lambda row: bool(row["kind"] != "confirmed")):
        x, y = _crossing(panel, inputs, row, places)
        near = [ring for ring in found if math.hypot(ring.x - x, ring.y - y) < 3.5 / 72]
        diameter = _RING
        if near:
            x, y = near[0].x, near[0].y
            diameter = max(ring.diameter for ring in near) + _RING_STEP
        pair = (str(row["agent_a"]), str(row["agent_b"]))
        found.append(Ring(x, y, diameter, row["kind"] == "confirmed", pair))
    return found


def ringed_flips(inputs: Inputs, coloured: Collection[str]) -> tuple[list[Row], int]:
    """Return the flips that have a ring, and how many have none.

    Above `_MOST_RINGS`, rings would hide the lines: then flips of two coloured agents have one.
    """
    found = [row for row in inputs.flips if row["kind"] in ("confirmed", "suggestive")]
    if len(found) <= _MOST_RINGS:
        return found, 0
    kept = [row for row in found if {row["agent_a"], row["agent_b"]} <= set(coloured)]
    return kept, len(found) - len(kept)


def _crossing(
    panel: Panel, inputs: Inputs, row: Row, places: Mapping[str, _Places]
) -> tuple[float, float]:
    """Return where the two drawn lines meet between the budgets of a crossing, inches."""
    names = [rung.name for rung in inputs.rungs]
    first, last = names.index(row["budget_from"]), names.index(row["budget_to"])
    pair = [places[row[key]][first : last + 1] for key in ("agent_a", "agent_b")]
    if last - first > 1:
        return _tied(panel, [[spot for spot in line[1:-1] if spot is not None] for line in pair])
    lines = [curve(line) for line in pair]
    grid = np.linspace(panel.scale.places[first], panel.scale.places[last], 400)
    one, other = (np.interp(grid, xs, ys) for xs, ys in lines)
    at = int(np.argmin(np.abs(one - other)))
    return panel.x(float(grid[at])), panel.y(float((one[at] + other[at]) / 2))


def _tied(panel: Panel, lines: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """Return the middle of where two agents are tied between the two sides of a crossing."""
    count = len(lines[0])
    middle = [line[place] for line in lines for place in {(count - 1) // 2, count // 2}]
    x, y = (sum(spot[i] for spot in middle) / len(middle) for i in (0, 1))
    return panel.x(x), panel.y(y)


def draw_rings(figure: Figure, found: Sequence[Ring]) -> None:
    """Draw rings: whole for confirmed flips, dotted for suggestive ones."""
    height = figure.get_figheight()
    for ring in found:
        figure.add_artist(
            Ellipse(
                (ring.x / style.WIDTH, 1 - ring.y / height),
                ring.diameter / 72 / style.WIDTH,
                ring.diameter / 72 / height,
                transform=figure.transFigure,
                fill=False,
                edgecolor=style.INK,
                linewidth=1.1,
                linestyle="-" if ring.confirmed else _DOTTED,
                zorder=20,
                label=f"{'confirmed' if ring.confirmed else 'suggestive'} {' '.join(ring.pair)}",
            )
        )
