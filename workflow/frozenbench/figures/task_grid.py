"""Figure `task_grid`: the outcome of each task under each budget, one grid an agent.

Tasks that compare agents differently as the budget changes come first: they alone can flip a
ranking. What does not fit is summed below, so that every cell is in the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from frozenbench.canonical import BadInput
from frozenbench.figures import style, task_totals
from frozenbench.figures.budget_curves import axis_title
from frozenbench.figures.curve_notes import chosen
from frozenbench.figures.frame import make_frame
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.outcome_marks import HATCHES, STACK, draw_legend, meanings, unknown
from frozenbench.figures.placing import wrap
from frozenbench.figures.task_cells import Band, Counts, TaskCells, bands
from frozenbench.figures.task_totals import Totals
from frozenbench.outcomes import OUTCOMES

#: Tasks that are drawn one by one.
_MOST = 60

# Inches: row pitch, room of a band's title and after a band, widest label and panel, gap of panels.
_ROW, _BAND, _AFTER, _LABEL, _WIDEST, _GAP = 0.1, 0.17, 0.06, 1.6, 1.75, 0.14
# Title pitch and gap, height of the sums, ticks, axis title, legend; room between two cells.
_TITLE_PITCH, _TITLE_GAP, _SUMS, _TICKS, _AXIS_TITLE, _LEGEND = 0.13, 0.08, 0.75, 0.2, 0.2, 0.27
_INSET, _LEAST = 0.008, 0.05
_LABEL_SIZE, _TICK_PITCH = 5.6, 0.115

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Rows:
    """What is drawn one by one: (band, its tasks in the order of rows); the rest is summed."""

    bands: tuple[tuple[Band, tuple[int, ...]], ...]
    rest: tuple[int, ...]

    @property
    def height(self) -> float:
        """Height of all rows and of the sums, inches."""
        rows = sum(_BAND + len(tasks) * _ROW + _AFTER for _, tasks in self.bands)
        return rows + (_BAND + _SUMS if self.rest else 0.0)


@dataclass(frozen=True)
class _Grid:
    """Where things stand, inches."""

    left: float
    width: float
    cell: float
    titles: dict[str, list[str]]
    upright: bool
    labelled: range
    ticks: float

    @property
    def head(self) -> float:
        """Height of the agents' names."""
        return max(map(len, self.titles.values())) * _TITLE_PITCH + _TITLE_GAP

    def panel(self, place: int) -> float:
        """Left edge of an agent's grid."""
        return self.left + place * (self.width + _GAP)


def build_figure(inputs: Inputs) -> Figure:
    """Draw the figure; call it inside `style.house_style()`.

    Raises:
        BadInput: a control is missing, or `focus` is wrong.
    """
    if inputs.task_cells is None:
        raise BadInput("cells.parquet: the tasks were not read; cure: ask for task_grid by name")
    looks = style.coloured(inputs.agents, inputs.focus)
    agents = [name for name in inputs.agents if name in looks]
    cells = inputs.task_cells.of([inputs.agents.index(name) for name in agents])
    found = bands(cells)
    rows = _choose(found, cells)
    given = inputs.view.get("title")
    title = "The outcome of every task under every budget"
    frame = make_frame(
        inputs,
        f"{given}: {title[0].lower()}{title[1:]}" if given else title,
        _subtitle(found),
        _notes(inputs, agents, rows, cells),
    )
    labels = _shortened(_names(inputs, rows, cells))
    totals = task_totals.count(cells)
    grid = _lay_out(inputs, agents, labels, totals)
    top = frame.top - 0.2 + grid.head
    ticks = top + rows.height + totals.height(grid.cell)
    end = ticks + grid.ticks
    figure = frame.open(end + _AXIS_TITLE + _LEGEND + 0.12)
    _write_rows(figure, rows, labels, grid, top)
    for place, agent in enumerate(agents):
        lines = grid.titles[agent]
        for line, text in enumerate(reversed(lines)):
            y = top - _TITLE_GAP - line * _TITLE_PITCH
            x = grid.panel(place)
            style.put(figure, x, y, text, style.END_LABEL, weight="bold", va="baseline")
        axes = style.axes_at(figure, grid.panel(place), top, grid.width, rows.height)
        _draw_cells(axes, cells.counts[place], rows, grid)
        panel = task_totals.Row(grid.panel(place), top + rows.height, grid.cell)
        task_totals.draw_counts(figure, totals, place, panel, grid.labelled)
        _draw_ticks(figure, inputs, grid, grid.panel(place), ticks)
    task_totals.draw_label(figure, totals, (grid.left - 0.05, top + rows.height))
    middle = (grid.left + grid.panel(len(agents) - 1) + grid.width) / 2
    style.put(figure, middle, end + 0.02, axis_title(inputs), style.AXIS, ha="center")
    absent = {name for name, _, _ in STACK} - cells.outcomes
    draw_legend(figure, end + _AXIS_TITLE + 0.07, absent, unknown(inputs))
    return figure


def _choose(found: Sequence[Band], cells: TaskCells) -> _Rows:
    """Take the first tasks of the first bands; inside a band those with the most PASS come first."""
    room = _MOST
    drawn: list[tuple[Band, tuple[int, ...]]] = []
    rest: list[int] = []
    for band in found:
        kept = band.tasks[:room]
        rest += band.tasks[len(kept) :]
        room -= len(kept)
        if kept:
            drawn.append((band, _by_ease(kept, cells)))
    return _Rows(tuple(drawn), tuple(rest))


def _subtitle(found: Sequence[Band]) -> str:
    counts = [f"{len(band.tasks)} {band.told}" for band in found]
    return f"{sum(len(band.tasks) for band in found)} tasks: {', '.join(counts)}."


def _notes(inputs: Inputs, agents: Sequence[str], rows: _Rows, cells: TaskCells) -> list[str]:
    notes = [
        "Rows: tasks; columns: budgets. Not weighted. Groups compare PASS with not PASS alone; in "
        "each, the most PASS come first.",
        meanings(inputs),
    ]
    if inputs.controls.need("repeats") > 1:
        notes.append("A cell is split by the outcomes of its repeats.")
    if rows.rest:
        notes.append(
            f"Drawn one by one: the {len(cells.tasks) - len(rows.rest)} tasks that change and "
            f"tell the most; the other {len(rows.rest)} are summed in the bars."
        )
    if len(agents) < len(inputs.agents):
        notes.append(
            f"Drawn: {len(agents)} agents ({chosen(inputs)}); groups are theirs alone. The other "
            f"{len(inputs.agents) - len(agents)} are in cells.parquet."
        )
    names = _names(inputs, rows, cells)
    if _shortened(names) != names:
        notes.append("Long names of tasks are shortened.")
    return notes


def _names(inputs: Inputs, rows: _Rows, cells: TaskCells) -> list[str]:
    """Return the tasks' names in order; a held-out task is named by its digest alone."""
    names = [cells.tasks[task] for _, tasks in rows.bands for task in tasks]
    if inputs.slice != "held_out":
        return names
    return [str(inputs.tasks[name].get("task_digest"))[:12] for name in names]


def _by_ease(tasks: Sequence[int], cells: TaskCells) -> tuple[int, ...]:
    """Return tasks with the most PASS first, like ones side by side."""
    passed = cells.passed

    def place(task: int) -> tuple[int, list[int], str]:
        pattern = passed[:, :, task]
        return -int(pattern.sum()), (-pattern).ravel().tolist(), cells.tasks[task]

    return tuple(sorted(tasks, key=place))


def _shortened(names: Sequence[str], cut: int = 0) -> list[str]:
    """Return names that fit, without their first `cut` letters; different names stay different.

    The middle is left out; where names are the same then, what they share at their beginning.
    """
    found = [_without_middle(f"…{name[cut:]}" if cut else name) for name in names]
    for text in set(found):
        places = [place for place, other in enumerate(found) if other == text]
        like = [names[place] for place in places]
        if len(set(like)) > 1:
            shared = takewhile(lambda letters: len(set(letters)) == 1, zip(*like, strict=False))
            again = _shortened(like, max(cut + 1, len(list(shared))))
            for place, told in zip(places, again, strict=True):
                found[place] = told
    return found


def _without_middle(name: str) -> str:
    if style.width_of(name, _LABEL_SIZE) <= _LABEL:
        return name
    keep = len(name) - 1
    while True:
        text = f"{name[: (keep + 1) // 2]}…{name[len(name) - keep // 2 :]}"
        if style.width_of(text, _LABEL_SIZE) <= _LABEL:
            return text
        keep -= 1


def _lay_out(inputs: Inputs, agents: Sequence[str], labels: Sequence[str], totals: Totals) -> _Grid:
    widest = max((style.width_of(text, _LABEL_SIZE) for text in labels), default=0.0)
    widest = max(widest, totals.label_width)
    left = style.LEFT + max(widest, 0.3) + 0.07
    count = len(agents)
    width = min(_WIDEST, (style.RIGHT - left - _GAP * (count - 1)) / count)
    cell = width / len(inputs.rungs)
    texts = [style.width_of(rung.label, style.AXIS) for rung in inputs.rungs]
    upright = max(texts) + 0.04 > cell
    every = max(1, int(np.ceil(_TICK_PITCH / cell))) if upright else 1
    return _Grid(
        left=left,
        width=width,
        cell=cell,
        titles={
            agent: wrap(agent, width, lambda line: style.width_of(line, style.END_LABEL, bold=True))
            for agent in agents
        },
        upright=upright,
        labelled=range((len(inputs.rungs) - 1) % every, len(inputs.rungs), every),
        ticks=max(texts) + 0.1 if upright else _TICKS,
    )


def _write_rows(
    figure: Figure, rows: _Rows, labels: Sequence[str], grid: _Grid, top: float
) -> None:
    texts = iter(labels)
    for band, tasks in rows.bands:
        count = f"{len(tasks)} of {len(band.tasks)}" if len(tasks) < len(band.tasks) else len(tasks)
        told = f"{band.title} ({count})"
        style.put(figure, style.LEFT, top + 0.05, told, style.NOTE, color=style.MUTED)
        top += _BAND
        for _ in tasks:
            style.put(
                figure,
                grid.left - 0.05,
                top + _ROW / 2,
                next(texts),
                _LABEL_SIZE,
                ha="right",
                va="center",
            )
            top += _ROW
        top += _AFTER
    if rows.rest:
        told = f"The other {len(rows.rest)} tasks, summed: share of their cells"
        style.put(figure, style.LEFT, top + 0.05, told, style.NOTE, color=style.MUTED)
        for share, where in (("100%", top + _BAND), ("0%", top + _BAND + _SUMS)):
            va = "top" if share == "100%" else "bottom"
            style.put(figure, grid.left - 0.05, where, share, style.NOTE, ha="right", va=va)


def _draw_cells(axes: Axes, counts: Counts, rows: _Rows, grid: _Grid) -> None:
    """Draw one agent's cells; `counts` has shape (budgets, tasks, outcomes)."""
    axes.set_xlim(0, grid.width)
    axes.set_ylim(rows.height, 0)
    axes.set_axis_off()
    boxes: dict[str, list[Box]] = {name: [] for name, _, _ in STACK}
    inset = _INSET if grid.cell >= _LEAST else 0.0
    top = 0.0
    for _, tasks in rows.bands:
        top += _BAND
        for task in tasks:
            for budget in range(len(counts)):
                left, room = budget * grid.cell + inset, grid.cell - 2 * inset
                for name, share in _shares(counts[budget, task]):
                    boxes[name].append((left, top + _INSET, share * room, _ROW - 2 * _INSET))
                    left += share * room
            top += _ROW
        top += _AFTER
    if rows.rest:
        for budget in range(len(counts)):
            bottom = top + _BAND + _SUMS
            for name, share in _shares(counts[budget, list(rows.rest)].sum(axis=0)):
                bottom -= share * _SUMS
                left = budget * grid.cell + inset
                boxes[name].append((left, bottom, grid.cell - 2 * inset, share * _SUMS))
    for name, _, colour in STACK:
        _add(axes, name, colour, boxes[name])


def _shares(counts: Counts) -> list[tuple[str, float]]:
    """Return the outcomes that came, in stacking order, as shares of what is there."""
    whole = int(counts.sum())
    named = dict(zip(OUTCOMES, counts.tolist(), strict=True))
    return [(name, named[name] / whole) for name, _, _ in STACK if whole and named[name]]


def _add(axes: Axes, name: str, colour: str, boxes: Sequence[Box]) -> None:
    """Draw all boxes of an outcome as one path: a file with thousands of objects is slow to show."""
    if not boxes:
        return
    corners = [
        corner
        for left, top, width, height in boxes
        for corner in (
            (left, top),
            (left + width, top),
            (left + width, top + height),
            (left, top + height),
            (left, top),
        )
    ]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    path = Path(corners, codes)
    axes.add_patch(PathPatch(path, facecolor=colour, linewidth=0, label=name))
    if name in HATCHES:
        hatch, ink = HATCHES[name]
        look = {"facecolor": "none", "edgecolor": ink, "hatch": hatch, "linewidth": 0}
        axes.add_patch(PathPatch(path, **look))


def _draw_ticks(figure: Figure, inputs: Inputs, grid: _Grid, left: float, top: float) -> None:
    # The last is always labelled: it can be the one without a cap.
    for place in grid.labelled:
        style.put(
            figure,
            left + (place + 0.5) * grid.cell,
            top + 0.05,
            inputs.rungs[place].label,
            style.AXIS,
            ha="center",
            rotation=90 if grid.upright else 0,
        )
