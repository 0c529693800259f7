"""Figure `pareto`: pass rate against the tokens really spent. Spend is an outcome, no control."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from frozenbench.figures import style
from frozenbench.figures.budget_curves import AXIS_TITLES, percent_tick
from frozenbench.figures.frame import make_frame
from frozenbench.figures.inputs import Inputs, plain
from frozenbench.figures.placing import Rectangle, place_near, spread, stagger, wrap
from frozenbench.figures.style import Look

# Inches: the panel, room of its axis, wrapped labels, and those that find no place beside a mark.
_HEIGHT, _WIDTH, _AXIS_TITLE, _TO_NOTES = 2.55, 5.33, 0.245, 0.5
_LABEL, _COLUMN = 1.45, 1.05
#: Places at which a label may lie over a line before it goes to the right of the panel.
_CROSSED = 3
#: Least width of the token axis, in octaves, and the room at its ends.
_OCTAVES, _EDGE = 2.0, 0.06
_LIMITS = (-0.015, 1.015)


@dataclass(frozen=True)
class Point:
    """One agent under one budget: mean tokens of the cells that report them, and its rate."""

    agent: str
    budget: str
    tokens: float
    rate: float
    low: float | None
    high: float | None


def build_figure(inputs: Inputs) -> Figure:
    """Draw the figure; call it inside `style.house_style()`.

    Raises:
        BadInput: a control is missing, or `focus` is wrong.
    """
    looks = style.coloured(inputs.agents, inputs.view.get("focus"))
    found = points(inputs)
    given = inputs.view.get("title")
    title = "Pass rate against tokens spent"
    frame = make_frame(
        inputs,
        f"{given}: {title[0].lower()}{title[1:]}" if given else title,
        f"Each point: one agent {_budget(inputs)}. Dashed: the best rate for that spend or less.",
        _notes(inputs, looks, found),
    )
    end = frame.top + _HEIGHT
    figure = frame.open(end + _TO_NOTES)
    axes = style.axes_at(figure, style.LEFT, frame.top, _WIDTH, _HEIGHT)
    axes.set_ylim(*_LIMITS)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    baseline = frame.top - 0.085
    heading = "Weighted pass rate"
    style.put(figure, style.LEFT, baseline, heading, style.PANEL, weight="bold", va="baseline")
    plane = make_plane(axes, found, frame.top)
    if found:
        _draw_ticks(figure, plane)
    _draw_points(axes, plane, inputs, looks, found)
    best = front(found)
    xs = [plane.place(point.tokens) for point in best]
    axes.plot(
        xs,
        [point.rate for point in best],
        color=style.INK,
        linewidth=0.9,
        linestyle=(0, (4, 2)),
        drawstyle="steps-post",
        zorder=2.5,
        label="front",
    )
    _draw_labels(figure, plane, looks, found, best)
    middle = style.LEFT + _WIDTH / 2
    words = "Mean tokens spent per run (log₂ scale)" if found else "No agent reports its tokens."
    style.put(figure, middle, end + _AXIS_TITLE, words, style.AXIS, ha="center")
    return figure


def _budget(inputs: Inputs) -> str:
    """Return what a point is under; an imported run was under no budget."""
    if not inputs.imported:
        budget = AXIS_TITLES[inputs.axis].removeprefix("Budget: max ").removesuffix(" per run")
        return f"under one budget ({budget})"
    unit = inputs.controls.get("source", "unit")
    return "as it was run" if unit is None else f"cut at one cap ({unit})"


def points(inputs: Inputs) -> list[Point]:
    """Return the points whose tokens and rate are known, agents in the config's order."""
    found = []
    for agent in inputs.agents:
        for rung in inputs.rungs:
            row = inputs.points[agent, rung.name]
            if not row["tokens_n"] or row["total_tokens"] is None:
                continue
            if row["weighted_pass_rate"] is None:
                continue
            tokens = row["total_tokens"] / row["tokens_n"]
            ends = row["weighted_low"], row["weighted_high"]
            found.append(Point(agent, rung.label, tokens, row["weighted_pass_rate"], *ends))
    return found


def front(found: Sequence[Point]) -> list[Point]:
    """Return the points with a higher rate than every one that spends as much or less."""
    best: list[Point] = []
    for point in sorted(found, key=lambda point: (point.tokens, -point.rate)):
        if not best or point.rate > best[-1].rate:
            best.append(point)
    return best


@dataclass(frozen=True)
class Plane:
    """The token axis: log2, with a place for 0 an octave left of the least; inches."""

    low: float
    high: float
    zero: float | None
    top: float

    def place(self, tokens: float) -> float:
        """Return x for a mean of tokens."""
        if tokens <= 0:
            return self.low if self.zero is None else self.zero
        return math.log2(tokens)

    def x(self, place: float) -> float:
        """Return inches from the left for x."""
        return style.LEFT + _WIDTH * (place - self.low) / (self.high - self.low)

    def y(self, rate: float) -> float:
        """Return inches from the top for a rate."""
        low, high = _LIMITS
        return self.top + _HEIGHT * (high - rate) / (high - low)


def make_plane(axes: Axes, found: Sequence[Point], top: float) -> Plane:
    """Return the axis that holds all points, at least two octaves wide."""
    logs = [math.log2(point.tokens) for point in found if point.tokens > 0] or [10.0]
    low, high = min(logs), max(logs)
    zero = low - 1 if any(point.tokens <= 0 for point in found) else None
    low = low if zero is None else zero
    room = max(0.0, _OCTAVES - (high - low)) / 2 + _EDGE * max(_OCTAVES, high - low)
    plane = Plane(low - room, high + room, zero, top)
    axes.set_xlim(plane.low, plane.high)
    return plane


def _draw_ticks(figure: Figure, plane: Plane) -> None:
    """Number the axis in steps of 1, 2, 5, or of 1 where these would touch."""
    least, most = (math.floor(end * math.log10(2)) for end in (plane.low, plane.high))
    decades = range(least, most + 1)
    start = plane.low if plane.zero is None else plane.zero + 0.5
    for steps in ((1, 2, 5), (1,)):
        numbers = [step * 10.0**decade for decade in decades for step in steps]
        ticks = {
            math.log2(number): _short(number)
            for number in numbers
            if start <= math.log2(number) <= plane.high
        }
        if plane.zero is not None:
            ticks = {plane.zero: "0", **ticks}
        centres = [plane.x(place) for place in ticks]
        widths = [style.width_of(text, style.AXIS) for text in ticks.values()]
        if max(stagger(centres, widths, 0.05), default=0) == 0:
            break
    figure.axes[0].set_xticks(list(ticks), [""] * len(ticks))
    for centre, text in zip(centres, ticks.values(), strict=True):
        style.put(figure, centre, plane.top + _HEIGHT + 0.075, text, style.AXIS, ha="center")


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return plain(number / size) + letter
    return plain(number)


def _draw_points(
    axes: Axes,
    plane: Plane,
    inputs: Inputs,
    looks: Mapping[str, Look],
    found: Sequence[Point],
) -> None:
    for agent in inputs.agents:
        own = [point for point in found if point.agent == agent]
        look, ahead = looks.get(agent, style.REST), agent in looks
        xs = [plane.place(point.tokens) for point in own]
        ys = [point.rate for point in own]
        axes.plot(xs, ys, color=look.mark, linewidth=1.0, alpha=0.6, zorder=2 if ahead else 1)
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
        for x, point in zip(xs, own, strict=True):
            if ahead and point.low is not None and point.high is not None:
                axes.vlines(
                    x, point.low, point.high, color=look.mark, linewidth=1.1, alpha=0.55, zorder=3
                )


def _draw_labels(
    figure: Figure,
    plane: Plane,
    looks: Mapping[str, Look],
    found: Sequence[Point],
    best: Sequence[Point],
) -> None:
    """Name agents beside a mark of theirs, or else at the right; then number the front."""
    taken = _obstacles(plane, looks, found)
    soft = _lines(plane, looks, found)
    steps = _samples(_staircase(plane, best))
    right, bottom = style.LEFT + _WIDTH, plane.top + _HEIGHT - 0.02
    inside = Rectangle(style.LEFT + 0.02, plane.top, right, bottom)
    homeless: list[tuple[str, Point]] = []
    for agent, look in looks.items():
        own = [point for point in found if point.agent == agent]
        lines = wrap(agent, _LABEL, _bold)
        size = (max(map(_bold, lines)), (1 + (len(lines) - 1) * 1.18) * style.END_LABEL / 72)
        marks = [(plane.x(plane.place(point.tokens)), plane.y(point.rate)) for point in own[::-1]]
        spot = place_near(marks, size, 0.075, [*taken, *steps], soft, inside, most=_CROSSED)
        if spot is not None:
            taken.append(spot)
            _write(figure, spot.left, spot.top, lines, look)
        elif own:
            homeless.append((agent, own[-1]))
    _draw_column(figure, plane, looks, homeless)
    for point in best:
        text = style.width_of(point.budget, style.NOTE), style.NOTE / 72
        mark = (plane.x(plane.place(point.tokens)), plane.y(point.rate))
        spot = place_near([mark], text, 0.06, [*taken, *soft, *steps], [], inside, left_first=True)
        if spot is not None:
            taken.append(spot)
            style.put(figure, spot.left, spot.top, point.budget, style.NOTE)


def _bold(line: str) -> float:
    return style.width_of(line, style.END_LABEL, bold=True)


def _write(figure: Figure, left: float, top: float, lines: Sequence[str], look: Look) -> None:
    for place, line in enumerate(lines):
        y = top + (0.81 + place * 1.18) * style.END_LABEL / 72
        style.put(
            figure,
            left,
            y,
            line,
            style.END_LABEL,
            color=look.text,
            weight="bold",
            va="baseline",
        )


def _draw_column(
    figure: Figure,
    plane: Plane,
    looks: Mapping[str, Look],
    homeless: Sequence[tuple[str, Point]],
) -> None:
    """Name agents at the right of the panel, joined to their last mark by a thin line."""
    order = sorted(homeless, key=lambda item: plane.y(item[1].rate))
    lines = [wrap(agent, _COLUMN, _bold) for agent, _ in order]
    heights = [(0.25 + 1.18 * len(text)) * style.END_LABEL / 72 for text in lines]
    wanted = [plane.y(point.rate) for _, point in order]
    left = style.LEFT + _WIDTH + 0.09
    centres = spread(wanted, heights, plane.top, plane.top + _HEIGHT)
    for (agent, point), text, centre, height in zip(order, lines, centres, heights, strict=True):
        _write(figure, left, centre - height / 2, text, looks[agent])
        start = (plane.x(plane.place(point.tokens)) + 0.06, plane.y(point.rate))
        style.leader(figure, start, (left - 0.03, centre))


def _obstacles(plane: Plane, looks: Mapping[str, Look], found: Sequence[Point]) -> list[Rectangle]:
    """Return what no label may cover: marks and intervals."""
    taken = []
    for point in found:
        x, y = plane.x(plane.place(point.tokens)), plane.y(point.rate)
        half = 0.045 if point.agent in looks else 0.02
        taken.append(Rectangle(x - half, y - half, x + half, y + half))
        if point.agent in looks and point.low is not None and point.high is not None:
            taken.append(Rectangle(x - 0.01, plane.y(point.high), x + 0.01, plane.y(point.low)))
    return taken


def _lines(plane: Plane, looks: Mapping[str, Look], found: Sequence[Point]) -> list[Rectangle]:
    """Return what a label should not cover if it can: the lines between an agent's marks."""
    samples = []
    for agent in looks:
        own = [point for point in found if point.agent == agent]
        samples += _samples(
            [(plane.x(plane.place(point.tokens)), plane.y(point.rate)) for point in own]
        )
    return samples


def _staircase(plane: Plane, best: Sequence[Point]) -> list[tuple[float, float]]:
    corners: list[tuple[float, float]] = []
    for point in best:
        x, y = plane.x(plane.place(point.tokens)), plane.y(point.rate)
        corners += [(x, corners[-1][1]), (x, y)] if corners else [(x, y)]
    return corners


def _samples(corners: Sequence[tuple[float, float]]) -> list[Rectangle]:
    """Return small rectangles along a line, close enough that no text passes between them."""
    samples = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / 0.04))
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            samples.append(Rectangle(x - 0.005, y - 0.005, x + 0.005, y + 0.005))
    return samples


def _notes(inputs: Inputs, looks: Mapping[str, Look], found: Sequence[Point]) -> list[str]:
    notes = [
        "Numbers: budgets on the dashed line.",
        "Bars: 95\u00a0% Wilson intervals.",
        "Spend is an outcome; the budget is the control.",
    ]
    shown = {agent: sum(point.agent == agent for point in found) for agent in inputs.agents}
    absent = [agent for agent, count in shown.items() if not count]
    partial = [agent for agent, count in shown.items() if 0 < count < len(inputs.rungs)]
    if absent:
        notes.append(f"Not drawn, tokens not reported: {', '.join(absent)}.")
    if partial:
        notes.append(f"Not drawn under every budget, tokens not reported: {', '.join(partial)}.")
    rungs = [rung.name for rung in inputs.rungs]
    missing = sum(
        int(inputs.points[agent, name]["tokens_missing"] or 0)
        for agent in inputs.agents
        if shown[agent]
        for name in rungs
    )
    if missing:
        notes.append(f"{missing} cells report no tokens and are in no mean.")
    if any(point.tokens <= 0 for point in found):
        notes.append("0 has no place on the scale; it stands at the left end.")
    if len(looks) < len(inputs.agents):
        notes.append(f"Pale: the other {len(inputs.agents) - len(looks)} agents.")
    return notes
