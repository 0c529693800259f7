"""Figure `outcomes`: what happened to every cell, one small multiple an agent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from frozenbench.figures import style
from frozenbench.figures.budget_curves import axis_title, percent, percent_tick
from frozenbench.figures.frame import make_frame
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.outcome_marks import HATCHES, STACK, draw_legend, meanings, unknown
from frozenbench.figures.placing import wrap

# Inches: panel height, that of more than _MANY agents, gap between panels, widest panel, room
# under the bars, title line pitch.
_HEIGHT, _LOW, _GAP, _WIDEST, _TICKS, _TITLE_PITCH = 1.64, 1.0, 0.2, 3.1, 0.21, 0.14
_TITLE_GAP, _ROW_GAP, _AXIS_TITLE, _LEGEND = 0.07, 0.13, 0.2, 0.27
#: Agents above which panels are low, and the least step of upright labels, inches.
_MANY, _TICK_PITCH = 8, 0.115
#: Budgets above which the bars of many agents hold no number.
_NUMBERED = 15
#: Inches of a bar that stay free beside its number.
_AROUND = 0.015
#: Width of a bar, inches of it that hold its value, share with a white edge, smallest value.
_BAR, _LEAST_VALUE, _SLIVER, _SMALLEST = 0.82, 0.131, 0.015, 4.6


@dataclass(frozen=True)
class _Grid:
    """Small multiples: agents by row, and inches."""

    rows: tuple[tuple[str, ...], ...]
    width: float
    titles: dict[str, list[str]]
    panel: float
    upright: bool
    every: int
    ticks: float
    bar: float

    def title_height(self, row: Sequence[str]) -> float:
        return max(len(self.titles[agent]) for agent in row) * _TITLE_PITCH + _TITLE_GAP

    @property
    def height(self) -> float:
        panels = sum(self.title_height(row) + self.panel + self.ticks for row in self.rows)
        return panels + _ROW_GAP * (len(self.rows) - 1)


def build_figure(inputs: Inputs) -> Figure:
    """Draw the figure; call it inside `style.house_style()`.

    Raises:
        BadInput: a control is missing.
    """
    grid = _grid(inputs)
    given = inputs.view.get("title")
    title = "What happened to every cell"
    frame = make_frame(
        inputs,
        f"{given}: {title[0].lower()}{title[1:]}" if given else title,
        f"Share of cells by outcome, not weighted. {_denominator(inputs)}; every cell has exactly "
        "one outcome.",
        _notes(inputs, grid),
    )
    # The frame leaves room for one panel title over its top; ours stand below it.
    top = frame.top - 0.2
    end = top + grid.height
    figure = frame.open(end + _AXIS_TITLE + _LEGEND + 0.12)
    for row in grid.rows:
        top += grid.title_height(row)
        for column, agent in enumerate(row):
            left = style.LEFT + column * (grid.width + _GAP)
            _draw_agent(figure, inputs, agent, grid, (left, top))
        top += grid.panel + grid.ticks + _ROW_GAP
    columns = len(grid.rows[0])
    middle = style.LEFT + (columns * (grid.width + _GAP) - _GAP) / 2
    style.put(figure, middle, end + 0.02, axis_title(inputs), style.AXIS, ha="center")
    absent = [
        name
        for name, column, _ in STACK
        if not any(value for agent in inputs.agents for value in inputs.series(agent, column))
    ]
    draw_legend(figure, end + _AXIS_TITLE + 0.07, absent, unknown(inputs))
    return figure


def _denominator(inputs: Inputs) -> str:
    """Return how many cells a bar is of."""
    sizes = sorted(
        {
            int(inputs.points[agent, rung.name]["n"])
            for agent in inputs.agents
            for rung in inputs.rungs
        }
    )
    if len(sizes) > 1:
        return f"Each bar: {sizes[0]} to {sizes[-1]} cells (see summary.csv)"
    tasks, repeats = len(inputs.tasks), int(inputs.controls.need("repeats"))
    if sizes[0] != tasks * repeats:
        return f"Each bar: {sizes[0]} cells"
    made = f"{tasks} tasks × {repeats} repeat{'' if repeats == 1 else 's'}"
    return f"Each bar: {sizes[0]} cells ({made})"


def _notes(inputs: Inputs, grid: _Grid) -> list[str]:
    names = unknown(inputs)
    told = [f"Not known for some cells, and drawn as nothing: {', '.join(names)}."]
    numbers = ["Numbers: PASS, per cent."] if grid.bar >= _narrowest() else []
    return [*(told if names else []), meanings(inputs), *numbers]


def _grid(inputs: Inputs) -> _Grid:
    count = len(inputs.agents)
    many = count > _MANY
    few = len(inputs.rungs) <= 6
    # Bars of very many budgets hold no number in any case, so that panels may be narrow.
    bare = len(inputs.rungs) > _NUMBERED
    most = (5 if few or bare else 3) if many else 4 if few else 3
    columns = math.ceil(count / math.ceil(count / most))
    whole = style.RIGHT - style.LEFT
    width = min(_WIDEST, (whole - _GAP * (columns - 1)) / columns)
    labels = [style.width_of(rung.label, style.AXIS) for rung in inputs.rungs]
    step = width / len(inputs.rungs)
    upright = max(labels) + 0.03 > step
    return _Grid(
        rows=tuple(inputs.agents[i : i + columns] for i in range(0, count, columns)),
        width=width,
        titles={
            agent: wrap(agent, width, lambda line: style.width_of(line, style.PANEL, bold=True))
            for agent in inputs.agents
        },
        panel=_LOW if many else _HEIGHT,
        upright=upright,
        every=max(1, math.ceil(_TICK_PITCH / step)) if upright else 1,
        ticks=max(labels) + 0.1 if upright else _TICKS,
        bar=step * _BAR,
    )


def _draw_agent(
    figure: Figure, inputs: Inputs, agent: str, grid: _Grid, corner: tuple[float, float]
) -> None:
    left, top = corner
    axes = style.axes_at(figure, left, top, grid.width, grid.panel)
    count = len(inputs.rungs)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines["left"].set_visible(False)
    if left > style.LEFT:
        axes.tick_params(labelleft=False)
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    lines = grid.titles[agent]
    for line, text in enumerate(reversed(lines)):
        y = top - _TITLE_GAP - line * _TITLE_PITCH
        style.put(figure, left, y, text, style.PANEL, weight="bold", va="baseline")
    _draw_bars(axes, inputs, agent)
    step = grid.width / count
    shares = inputs.series(agent, "pass_rate")
    # The last is always labelled: it can be the one without a cap.
    labelled = range(count - 1, -1, -grid.every)
    for place, (rung, value) in enumerate(zip(inputs.rungs, shares, strict=True)):
        middle = left + (place + 0.5) * step
        style.put(
            figure,
            middle,
            top + grid.panel + 0.05,
            rung.label if place in labelled else "",
            style.AXIS,
            ha="center",
            rotation=90 if grid.upright else 0,
        )
        if value is not None and value * grid.panel > _LEAST_VALUE:
            _write_value(figure, middle, top + (1 - value) * grid.panel + 0.03, value, step * _BAR)


def _draw_bars(axes: Axes, inputs: Inputs, agent: str) -> None:
    bottoms = [0.0] * len(inputs.rungs)
    for name, column, colour in STACK:
        heights = [value or 0.0 for value in inputs.series(agent, column)]
        xs = range(len(heights))
        # A white edge would cover a sliver, and a sliver is never nothing.
        edges = ["white" if height >= _SLIVER else colour for height in heights]
        widths = [0.4 if height else 0.0 for height in heights]
        axes.bar(
            xs, heights, _BAR, bottoms, color=colour, edgecolor=edges, linewidth=widths, label=name
        )
        if name in HATCHES:
            hatch, ink = HATCHES[name]
            # A second bar, because an edge has one colour for the outline and the hatch.
            axes.bar(
                xs,
                heights,
                _BAR,
                bottoms,
                facecolor="none",
                edgecolor=ink,
                hatch=hatch,
                linewidth=0,
            )
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]


def _write_value(figure: Figure, x: float, y: float, value: float, room: float) -> None:
    """Write a PASS share into its bar, smaller in a narrow bar, not at all in a hair's breadth."""
    text, size = percent(value).rstrip("%"), style.NOTE
    if style.width_of("88.8", _SMALLEST, bold=True) > room - _AROUND:
        text = _whole(value)
    while size >= _SMALLEST and style.width_of(text, size, bold=True) > room - _AROUND:
        size -= 0.4
    if size >= _SMALLEST:
        style.put(figure, x, y, text, size, weight="bold", color="white", ha="center")


def _narrowest() -> float:
    """Return the width of a bar that holds a number of two digits."""
    return style.width_of("88", _SMALLEST, bold=True) + _AROUND


def _whole(value: float) -> str:
    """Write a share in whole per cent, a half upwards; only all is 100."""
    return ">99" if 0.995 <= value < 1 else str(math.floor(100 * value + 0.5))
