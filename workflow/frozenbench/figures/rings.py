"""Rings at flips: whole where confirmed, dotted where suggestive, none at an unresolved crossing."""

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
from frozenbench.figures.marks import Panel
from frozenbench.figures.rank_places import Places
from frozenbench.figures.style import Look

#: Points along a line between two budgets.
_SAMPLES = 48
#: Points along the span of a crossing, where two lines are compared.
_GRID = 400
#: Diameter of a ring and how much a ring around another is wider, points.
_RING, _RING_STEP = 10.0, 4.5
#: More rings than this hide the lines.
_MOST_RINGS = 24
_DOTTED = (0, (1.0, 1.3))


def curve(places: Places) -> tuple[list[float], list[float]]:
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
    places: Mapping[str, Places],
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
    panel: Panel, inputs: Inputs, row: Row, places: Mapping[str, Places]
) -> tuple[float, float]:
    """Return where the two drawn lines meet between the budgets of a crossing, inches.

    Agents that are tied between them meet about there, once or, with several ties, more often: the
    place that is nearest to the middle is taken.
    """
    names = [rung.name for rung in inputs.rungs]
    first, last = names.index(row["budget_from"]), names.index(row["budget_to"])
    lines = [curve(places[row[key]][first : last + 1]) for key in ("agent_a", "agent_b")]
    grid = np.linspace(panel.scale.places[first], panel.scale.places[last], _GRID)
    one, other = (np.interp(grid, xs, ys) for xs, ys in lines)
    apart = one - other
    meet = np.flatnonzero(apart[:-1] * apart[1:] <= 0)
    middle = (len(grid) - 1) / 2
    at = int(min(meet, key=lambda place: abs(place - middle), default=np.argmin(np.abs(apart))))
    return panel.x(float(grid[at])), panel.y(float((one[at] + other[at]) / 2))


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
