"""Figure `pareto`: pass rate against the tokens really spent. Spend is an outcome, no control."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from frozenbench.figures import curve_notes, marks, style
from frozenbench.figures.budget_curves import AXIS_TITLES, percent_tick
from frozenbench.figures.frame import make_frame, tasks
from frozenbench.figures.inputs import Inputs, plain
from frozenbench.figures.outcome_marks import LOG_ENDING, exhausted
from frozenbench.figures.pareto_labels import (
    MOST_NUMBERED,
    Labels,
    column_width,
    draw_labels,
    place_labels,
    staircase,
)
from frozenbench.figures.pareto_marks import (
    LIMITS,
    Mark,
    Plane,
    Point,
    budgets,
    front,
    make_marks,
    make_plane,
    mark_of,
    points,
)
from frozenbench.figures.placing import stagger
from frozenbench.figures.style import Look

# Inches: the panel, that of no points, room of its axis, the widest column of names at its right.
_HEIGHT, _EMPTY, _WIDTH, _AXIS_TITLE, _TO_NOTES, _COLUMN = 2.55, 0.5, 5.33, 0.245, 0.5, 1.9
#: The front where budgets were enforced; a cut curve is dashed, so that there it is whole.
_DASHED = (0, (4, 2))
#: Pale agents on the front that are named in the note.
_NAMED = 4


@dataclass(frozen=True)
class _Drawn:
    """All that stands in the panel."""

    plane: Plane
    marks: Sequence[Mark]
    best: Sequence[Mark]
    labels: Labels
    clear: bool


#: Why a point has no place, of own runs and of imported ones.
_UNKNOWN = ("tokens not reported", "not all tokens up to a cut are told")
#: Steps of a decade that have a tick, finest first, and the least room between numbers, inches.
_STEPS = (range(1, 10), (1, 2, 3, 4, 6, 8), (1, 2, 5), (1, 3), (1,))
_TICKS_APART = 0.12


def build_figure(inputs: Inputs) -> Figure:
    """Draw the figure; call it inside `style.house_style()`.

    Raises:
        BadInput: a control is missing, or `focus` is wrong.
    """
    looks = style.coloured(inputs.agents, inputs.focus)
    found = points(inputs)
    drawn = _lay_out(inputs, looks, found)
    given = inputs.view.get("title")
    title = "Pass rate against tokens spent"
    kind = "Stepped line" if inputs.imported else "Dashed"
    frame = make_frame(
        inputs,
        f"{given}: {title[0].lower()}{title[1:]}" if given else title,
        f"Each mark: one agent {_budget(inputs)}. {kind}: the best rate for that spend or less.",
        _notes(inputs, looks, found, drawn),
    )
    # The panel is laid out from 0; now its place is known.
    drawn = _lay_out(inputs, looks, found, frame.top)
    plane = drawn.plane
    end = frame.top + plane.height
    figure = frame.open(end + _TO_NOTES)
    axes = style.axes_at(figure, plane.left, plane.top, plane.width, plane.height)
    axes.set_facecolor("none")
    axes.set_xlim(plane.low, plane.high)
    axes.set_ylim(*LIMITS)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0] if found else [])
    axes.set_xticks([])
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    baseline = frame.top - 0.085
    heading = "Weighted pass rate"
    style.put(figure, style.LEFT, baseline, heading, style.PANEL, weight="bold", va="baseline")
    middle = plane.left + plane.width / 2
    if not found:
        words = f"No agent has a place: {_UNKNOWN[inputs.imported]}."
        y = plane.top + plane.height / 2
        style.put(figure, middle, y, words, style.AXIS, ha="center", va="center")
        axes.set_axis_off()
        return figure
    _draw_ticks(figure, plane)
    _draw_marks(axes, inputs, looks, drawn)
    corners = staircase(drawn.best)
    axes.plot(
        [plane.place_at(x) for x, _ in corners],
        [LIMITS[1] - (y - plane.top) / plane.height * (LIMITS[1] - LIMITS[0]) for _, y in corners],
        color=style.INK,
        linewidth=0.9,
        linestyle="-" if inputs.imported else _DASHED,
        zorder=2.5,
        label="front",
    )
    draw_labels(figure, plane, looks, drawn.marks, drawn.labels)
    words = "Mean tokens spent per run (log₂ scale)"
    style.put(figure, middle, end + _AXIS_TITLE, words, style.AXIS, ha="center")
    return figure


def _budget(inputs: Inputs) -> str:
    """Return what a point is under; an imported run was under no budget."""
    if not inputs.imported:
        budget = AXIS_TITLES[inputs.axis].removeprefix("Budget: max ").removesuffix(" per run")
        return f"under one budget ({budget})"
    unit = inputs.controls.get("source", "unit")
    return "as it was run" if unit is None else f"cut at one cap ({unit})"


def _lay_out(
    inputs: Inputs, looks: Mapping[str, Look], found: Sequence[Point], top: float = 0.0
) -> _Drawn:
    """Place marks and words in a panel that begins at `top` inches; it grows with the names."""
    column = column_width(looks, _COLUMN)
    width = min(_WIDTH, style.RIGHT - style.LEFT - 0.1 - column)
    height = _HEIGHT if found else _EMPTY
    caps = [rung.label for rung in inputs.rungs]
    while True:
        plane = make_plane(found, top, width, height)
        held, clear = make_marks(plane, found, looks)
        best: list[Mark] = []
        for point in front(found):
            mark = mark_of(held, point)
            if mark not in best:
                best.append(mark)
        room = style.RIGHT - plane.left - plane.width - 0.09
        labels = place_labels(plane, caps, looks, held, best, room)
        if labels.height <= height:
            return _Drawn(plane, held, best, labels, clear)
        height = labels.height


def _draw_ticks(figure: Figure, plane: Plane) -> None:
    """Number the axis in the finest of its steps whose numbers stand well apart."""
    for steps in _STEPS:
        ticks = _ticks(plane, steps)
        centres = [plane.x(place) for place in ticks]
        widths = [style.width_of(text, style.AXIS) for text in ticks.values()]
        if len(ticks) > 1 and max(stagger(centres, widths, _TICKS_APART)) == 0:
            break
    figure.axes[0].set_xticks(list(ticks), [""] * len(ticks))
    for centre, text in zip(centres, ticks.values(), strict=True):
        style.put(figure, centre, plane.top + plane.height + 0.075, text, style.AXIS, ha="center")


def _ticks(plane: Plane, steps: Sequence[int]) -> dict[float, str]:
    """Return x and text of the decimal steps that lie on the axis, and of 0 where it has a place."""
    least, most = (math.floor(end * math.log10(2)) for end in (plane.low, plane.high))
    numbers = [step * 10.0**decade for decade in range(least, most + 1) for step in steps]
    start = plane.low if plane.zero is None else plane.zero + 0.5
    found = {
        math.log2(number): _short(number)
        for number in numbers
        if start <= math.log2(number) <= plane.high
    }
    return found if plane.zero is None else {plane.zero: "0", **found}


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return plain(number / size) + letter
    return plain(number)


def _draw_marks(axes: Axes, inputs: Inputs, looks: Mapping[str, Look], drawn: _Drawn) -> None:
    """Draw lines, marks and intervals; every point of a mark stands where the mark was set."""
    plane = drawn.plane
    for agent in inputs.agents:
        own = sorted(
            (
                (point, mark.shift)
                for mark in drawn.marks
                for point in mark.points
                if mark.agent == agent
            ),
            key=lambda held: held[0].rung,
        )
        look, ahead = looks.get(agent, style.REST), agent in looks
        xs = [plane.place_at(plane.x(plane.place(p.tokens)) + shift) for p, shift in own]
        ys = [point.rate for point, _ in own]
        axes.plot(
            xs,
            ys,
            color=look.mark,
            linewidth=1.0,
            linestyle=marks.line_style(inputs),
            alpha=0.6,
            zorder=2 if ahead else 1,
        )
        axes.plot(
            xs,
            ys,
            linestyle="none",
            color=look.mark,
            marker=look.marker,
            markersize=look.size,
            markeredgecolor="white" if ahead else look.mark,
            markeredgewidth=0.7 if ahead else 0,
            zorder=4 if ahead else 1.5,
            clip_on=False,
            label=agent,
        )
        # Equal intervals once: several half transparent ones would be a darker one.
        bars = {
            (round(x, 9), point.low, point.high): None
            for x, (point, _) in zip(xs, own, strict=True)
            if ahead and point.low is not None and point.high is not None
        }
        for x, low, high in bars:
            axes.vlines(x, low, high, color=look.mark, linewidth=1.1, alpha=0.55, zorder=3)


def _notes(
    inputs: Inputs, looks: Mapping[str, Look], found: Sequence[Point], drawn: _Drawn
) -> list[str]:
    notes = [*_reading(inputs, looks, drawn)] if found else []
    shown = {agent: sum(point.agent == agent for point in found) for agent in inputs.agents}
    absent = [agent for agent, count in shown.items() if not count]
    partial = [agent for agent, count in shown.items() if 0 < count < len(inputs.rungs)]
    why = _UNKNOWN[inputs.imported]
    every = "at every cut" if inputs.imported else "under every budget"
    if absent and found:
        notes.append(f"Not drawn, {why}: {', '.join(absent)}.")
    if partial:
        notes.append(f"Not drawn {every}, {why}: {', '.join(partial)}.")
    rungs = [rung.name for rung in inputs.rungs]
    missing = sum(
        int(inputs.points[agent, name]["tokens_missing"] or 0)
        for agent in inputs.agents
        if shown[agent]
        for name in rungs
    )
    if missing and not inputs.imported:
        notes.append(f"{missing} cells report no tokens and are in no mean.")
    if any(point.tokens <= 0 for point in found):
        notes.append("0 has no place on the scale; it stands at the left end.")
    notes.append(_where(inputs))
    return notes


def _reading(inputs: Inputs, looks: Mapping[str, Look], drawn: _Drawn) -> list[str]:
    """Return how marks, numbers, bars and the front are read."""
    line = "stepped" if inputs.imported else "dashed"
    left_out = drawn.labels.missing
    coloured = sum(mark.agent in looks for mark in drawn.marks)
    numbers = f"always at marks on the {line} line, elsewhere where there is room"
    if coloured > MOST_NUMBERED:
        numbers = f"on the {line} line alone"
    if left_out:
        numbers = f"where there is room; {left_out} of the marks on the {line} line have none"
    budget = "cuts" if inputs.imported else "budgets"
    joined = f"{'Dashed' if inputs.imported else 'Solid'} lines join the {budget} of one agent."
    # Several in one label: the first that is drawn shows how it is read.
    several = [number.text for number in drawn.labels.numbers if len(number.mark.points) > 1]
    if several:
        numbers += f" ({several[0]}: these {budget} coincide)"
    notes = [
        f"Numbers: {budget}, {numbers}. Bars: 95\u00a0% Wilson intervals over {tasks(inputs)}. {joined}"
    ]
    if inputs.imported:
        notes.append(f"EXHAUSTED cells ({LOG_ENDING}) count as not passed, with their tokens.")
    else:
        notes.append(
            f"EXHAUSTED cells ({exhausted(inputs)}) count as not passed, with their tokens."
        )
    moved = max((abs(mark.shift) for mark in drawn.marks), default=0.0)
    if not drawn.clear:
        notes.append("Marks stand side by side as far as there is room; some hide others.")
    elif moved > 0.005:
        own = "Marks" if len(looks) == len(inputs.agents) else "Coloured marks"
        notes.append(
            f"{own} that would hide each other stand side by side, up to "
            f"{25.4 * moved:.1f} mm off their place."
        )
    if len(looks) < len(inputs.agents):
        pale = len(inputs.agents) - len(looks)
        told = _pale(inputs, looks, drawn)
        notes.append(f"Pale, without bars: the other {pale} agents{told}.")
    return notes


def _pale(inputs: Inputs, looks: Mapping[str, Look], drawn: _Drawn) -> str:
    """Return which pale agents are on the front, with their budgets there."""
    caps = [rung.label for rung in inputs.rungs]
    held: dict[str, list[int]] = {}
    for mark in drawn.best:
        if mark.agent not in looks:
            held.setdefault(mark.agent, []).extend(point.rung for point in mark.points)
    if not held:
        return ""
    if len(held) > _NAMED:
        return f", {len(held)} of them on the front (see the tables)"
    told = [f"{agent} ({budgets(caps, rungs)})" for agent, rungs in held.items()]
    return f", on the front {', '.join(told)}"


def _where(inputs: Inputs) -> str:
    """Return what the flips are, and where they stand."""
    where = (
        "budget_curves" if "budget_curves" in (inputs.view.get("figures") or ()) else "flips.csv"
    )
    if not int(inputs.facts.need("pairs")) or len(inputs.rungs) == 1:
        return curve_notes.flips_found(inputs)
    return f"{curve_notes.flips_found(inputs).rstrip('.')}; see {where}."
