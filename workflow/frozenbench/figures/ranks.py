"""The panel of ranks: one line an agent, 1 on top, with a ring at every flip."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.patches import FancyBboxPatch

from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.marks import Panel, line_style
from frozenbench.figures.rank_places import MARKER, PILL, Places, RankPlaces, place_ranks
from frozenbench.figures.rings import curve, draw_rings, rings
from frozenbench.figures.style import Look

_PILL_COLOUR = "#E6E8EB"


def panel_height(agents: int, coloured: int) -> float:
    """Return the panel's height in inches: all agents are named at its right."""
    pitch = 0.17 if coloured == agents else 0.122
    return max(1.27, pitch * agents + 0.1)


def draw_ranks(panel: Panel, inputs: Inputs, looks: Mapping[str, Look]) -> RankPlaces:
    """Draw lines, marks, rank intervals wider than one rank, and rings; return where marks stand."""
    axes, placed = panel.axes, place_ranks(panel, inputs, looks)
    _draw_pills(panel, placed)
    for agent in inputs.agents:
        look, front = looks.get(agent, style.REST), agent in looks
        xs, ys = curve(placed.spots[agent])
        axes.plot(
            xs,
            ys,
            color=look.mark,
            linewidth=1.8 if front else 0.8,
            linestyle=line_style(inputs),
            zorder=4 if front else 2,
            clip_on=False,
        )
        known = [spot for spot in placed.spots[agent] if spot is not None]
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
            linestyle="none",
            color=look.mark,
            marker=look.marker,
            markersize=MARKER * placed.size * look.size / 5.2 if front else look.size,
            markeredgecolor="white" if front else look.mark,
            markeredgewidth=0.7 * placed.size if front else 0,
            zorder=5 if front else 2,
            clip_on=False,
            label=agent,
        )
        if front:
            _draw_intervals(panel, inputs, agent, placed.spots[agent], look)
    draw_rings(panel.figure, rings(panel, inputs, placed.spots, looks))
    return placed


def _draw_pills(panel: Panel, placed: RankPlaces) -> None:
    """Draw a pale pill behind the marks of agents that share a rank."""
    whole, edge = panel.figure.get_figheight(), PILL * placed.size
    for rung, agents in placed.groups:
        spots = [spot for agent in agents if (spot := placed.spots[agent][rung]) is not None]
        xs, ys = [panel.x(x) for x, _ in spots], [whole - panel.y(y) for _, y in spots]
        panel.axes.add_patch(
            FancyBboxPatch(
                (min(xs) - edge, min(ys) - edge),
                max(xs) - min(xs) + 2 * edge,
                max(ys) - min(ys) + 2 * edge,
                boxstyle=f"round,pad=0,rounding_size={edge}",
                transform=panel.figure.dpi_scale_trans,
                facecolor=_PILL_COLOUR,
                linewidth=0,
                zorder=1,
                clip_on=False,
                label=f"tied {' '.join(agents)}",
            )
        )


def has_intervals(inputs: Inputs, looks: Mapping[str, Look]) -> bool:
    """Return whether an interval is drawn: one of a coloured agent that is wider than one rank."""
    return any(_intervals(inputs, agent) for agent in looks)


def has_gaps(inputs: Inputs, looks: Mapping[str, Look]) -> bool:
    """Return whether intervals are drawn for some marks alone: no bar must not look like no data."""
    drawn = sum(len(_intervals(inputs, agent)) for agent in looks)
    known = sum(rank is not None for agent in looks for rank in inputs.series(agent, "rank"))
    return 0 < drawn < known


def _intervals(inputs: Inputs, agent: str) -> dict[int, tuple[float, float]]:
    """Return an agent's rank intervals that are wider than one rank, by rung."""
    ends = zip(inputs.series(agent, "rank_low"), inputs.series(agent, "rank_high"), strict=True)
    return {
        rung: (low, high)
        for rung, (low, high) in enumerate(ends)
        if low is not None and high is not None and high > low
    }


def _draw_intervals(panel: Panel, inputs: Inputs, agent: str, places: Places, look: Look) -> None:
    for rung, (low, high) in _intervals(inputs, agent).items():
        spot = places[rung]
        if spot is not None:
            panel.axes.vlines(
                spot[0], low, high, color=look.mark, linewidth=1.1, alpha=0.55, zorder=3
            )
