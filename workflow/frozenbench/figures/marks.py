"""Panels over a budget axis, and what is drawn on them: curves, intervals, end labels, spans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.placing import spread, wrap
from frozenbench.figures.scale import Scale
from frozenbench.figures.style import Look

#: Width of a mark, and the distance of the marks of two agents under one budget, inches.
_MARK, _APART_MARKS = 5.2 / 72, 0.06
#: The same distance where there is one budget and no line to follow.
_APART_ALONE = 0.36
#: Inches: from a panel to its tick labels, and from one row of these to the next.
_TO_TICKS, _TICK_PITCH = 0.075, 0.12
#: A curve that no budget was enforced for.
_DASHED = (0, (4.0, 1.6))
LineStyle = str | tuple[float, tuple[float, ...]]
#: Line pitch of an end label and room between two labels, multiples of the size.
_LEADING, _APART, _APART_WRAPPED = 1.18, 0.10, 0.45


@dataclass(frozen=True)
class Panel:
    """Axes with their place on the figure, inches from its upper left corner."""

    figure: Figure
    axes: Axes
    scale: Scale
    left: float
    top: float
    width: float
    height: float

    def x(self, place: float) -> float:
        """Return inches from the left for a place on the axis."""
        return self.left + self.scale.inches(place)

    def y(self, value: float) -> float:
        """Return inches from the top for a value."""
        low, high = self.axes.get_ylim()
        return self.top + self.height * (high - value) / (high - low)


@dataclass(frozen=True)
class Standing:
    """How the marks of one budget stand beside each other.

    Attributes:
        offsets: for each coloured agent, by rung, how far (x) its mark stands from the tick.
        size: share of their size at which marks are drawn.
        clear: whether no mark hides another of its budget.
    """

    offsets: Mapping[str, tuple[float, ...]]
    size: float
    clear: bool

    def xs(self, agent: str, scale: Scale) -> list[float]:
        """Return x of an agent's marks; those of pale agents stand at the ticks."""
        moved = self.offsets.get(agent, (0.0,) * len(scale.places))
        return [place + offset for place, offset in zip(scale.places, moved, strict=True)]


def group_width(count: int) -> float:
    """Return the width of the marks of `count` agents beside each other, inches."""
    return (count - 1) * _APART_MARKS + _MARK


def standing(scale: Scale, looks: Mapping[str, Look]) -> Standing:
    """Set the marks of the coloured agents beside each other under every budget."""
    count, rungs = len(looks), range(len(scale.places))
    apart = _APART_MARKS if len(rungs) > 1 else _APART_ALONE
    size, clear = scale.shrink([count] * len(rungs), apart, _MARK)
    found = [scale.stand(rung, count, apart * size, _MARK * size) for rung in rungs]
    return Standing(
        {
            agent: tuple(found[rung][place] * scale.per_inch for rung in rungs)
            for place, agent in enumerate(looks)
        },
        size,
        clear or count == 1,
    )


def add_panel(
    figure: Figure,
    scale: Scale,
    place: tuple[float, float, float, float],
    limits: tuple[float, float],
) -> Panel:
    """Add a panel over the budget axis at `place` (left, top, width, height), y from `limits`."""
    axes = style.axes_at(figure, *place)
    axes.set_facecolor("none")
    axes.set_xlim(*scale.limits)
    axes.set_ylim(*limits)
    axes.set_xticks(list(scale.places), [""] * len(scale.places))
    panel = Panel(figure, axes, scale, *place)
    for x, row, text in zip(scale.places, scale.tick_rows, scale.labels, strict=True):
        if row is not None:
            top = panel.top + panel.height + _TO_TICKS + row * _TICK_PITCH
            style.put(figure, panel.x(x), top, text, style.AXIS, ha="center")
    return panel


def ticks_height(scale: Scale) -> float:
    """Return what the rows of tick labels beyond the first take, inches."""
    return max(row for row in scale.tick_rows if row is not None) * _TICK_PITCH


def title_panel(panel: Panel, letter: str, title: str, remark: str) -> None:
    """Write a panel's letter, title and what it measures, above its left end."""
    whole = f"{letter}  {title}"
    baseline = panel.top - 0.085
    style.put(panel.figure, style.LEFT, baseline, whole, style.PANEL, weight="bold", va="baseline")
    left = style.LEFT + style.width_of(whole, style.PANEL, bold=True) + 0.09
    style.put(panel.figure, left, baseline, remark, style.NOTE, color=style.MUTED, va="baseline")


def line_style(inputs: Inputs) -> LineStyle:
    """Return how curves are drawn: dashed where they are cut out of finished runs."""
    return _DASHED if inputs.imported else "-"


def draw_curves(
    panel: Panel, inputs: Inputs, looks: Mapping[str, Look], columns: tuple[str, str, str]
) -> None:
    """Draw value, low and high of every agent at the budgets that were run; pale ones behind."""
    stand = standing(panel.scale, looks)
    for agent in inputs.agents:
        look = looks.get(agent, style.REST)
        values = inputs.series(agent, columns[0])
        xs = stand.xs(agent, panel.scale)
        # None breaks a line: a point that is not known is never drawn.
        ys = [math.nan if value is None else value for value in values]
        front = agent in looks
        panel.axes.plot(
            xs,
            ys,
            color=look.mark,
            linewidth=1.5 if front else 0.8,
            linestyle=line_style(inputs),
            marker=look.marker,
            markersize=look.size * stand.size if front else look.size,
            markeredgecolor="white" if front else look.mark,
            markeredgewidth=0.7 * stand.size if front else 0,
            clip_on=False,
            zorder=4 if front else 2,
            label=agent,
        )
        if not front:
            continue
        ends = zip(
            xs, inputs.series(agent, columns[1]), inputs.series(agent, columns[2]), strict=True
        )
        bars = [(x, low, high) for x, low, high in ends if low is not None and high is not None]
        if bars:
            panel.axes.vlines(
                *zip(*bars, strict=True),
                color=look.mark,
                linewidth=1.1,
                alpha=0.55,
                zorder=3,
                clip_on=False,
            )


@dataclass(frozen=True)
class EndLabel:
    """A label at the right end of a curve: its lines and where the curve ends (x, y)."""

    lines: tuple[str, ...]
    x: float
    y: float
    colour: str
    size: float
    bold: bool

    @property
    def height(self) -> float:
        """From the top of its first line to the bottom of its last, inches."""
        return (1 + (len(self.lines) - 1) * _LEADING) * self.size / 72

    @property
    def room(self) -> float:
        """Its height and what keeps it apart from its neighbours, inches."""
        apart = _APART_WRAPPED if len(self.lines) > 1 else _APART
        return self.height + apart * self.size / 72


def end_label(
    text: str, room: float, end: tuple[float, float], look: Look, front: bool
) -> EndLabel:
    """Return a label wrapped to `room` inches."""
    size = style.END_LABEL if front else style.PALE_LABEL
    lines = wrap(text, room, lambda line: style.width_of(line, size, bold=front))
    return EndLabel(tuple(lines), *end, look.text, size, front)


def draw_end_labels(
    panel: Panel, labels: Sequence[EndLabel], left: float, head: float = 0.0
) -> None:
    """Write labels at `left` inches, apart from each other in the order of their values.

    The first `head` inches of the panel hold other words, which no line to a label may cross.
    """
    if not labels:
        return
    last = max(label.x for label in labels)
    alone = len(panel.scale.places) == 1
    order = sorted(labels, key=lambda label: panel.y(label.y))
    centres = spread(
        [panel.y(label.y) for label in order],
        [label.room for label in order],
        panel.top + head - 0.06,
        panel.top + panel.height + 0.06,
    )
    for label, centre in zip(order, centres, strict=True):
        # It begins right of all marks, so that it crosses none; alone, at its own.
        start = (panel.x(label.x if alone else last) + 0.07, panel.y(label.y))
        colour = label.colour if label.bold else style.RULE
        style.leader(panel.figure, start, (left - 0.03, centre), colour)
        size = label.size / 72
        for place, line in enumerate(label.lines):
            style.put(
                panel.figure,
                left,
                centre - label.height / 2 + (0.81 + place * _LEADING) * size,
                line,
                label.size,
                color=label.colour,
                weight="bold" if label.bold else "normal",
                va="baseline",
            )
