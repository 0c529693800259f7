"""What `pareto` draws, and where: points, the marks that stand for them, the front, the axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from frozenbench.figures import style
from frozenbench.figures.apart import Spot, set_apart
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.style import Look

#: Least width of the token axis, in octaves, and the room at its ends: its share, and inches.
_OCTAVES, _EDGE, _ENDS = 2.0, 0.06, 0.38
LIMITS = (-0.015, 1.015)
#: Points of one agent that are nearer than this, in inches, are one mark.
_ONE_MARK = 0.03


@dataclass(frozen=True)
class Point:
    """One agent under one budget: mean tokens of the cells that report them, and its rate."""

    agent: str
    rung: int
    tokens: float
    rate: float
    low: float | None
    high: float | None


def points(inputs: Inputs) -> list[Point]:
    """Return the points whose tokens and rate are known, agents in the config's order.

    What an imported run used up to a cut is not told: the mean of those that ended before it would
    be that of survivors, so a point with a run that was cut has no place.
    """
    found = []
    for agent in inputs.agents:
        for place, rung in enumerate(inputs.rungs):
            row = inputs.points[agent, rung.name]
            if not row["tokens_n"] or row["total_tokens"] is None:
                continue
            if row["weighted_pass_rate"] is None:
                continue
            if inputs.imported and row["tokens_missing"]:
                continue
            tokens = row["total_tokens"] / row["tokens_n"]
            ends = row["weighted_low"], row["weighted_high"]
            found.append(Point(agent, place, tokens, row["weighted_pass_rate"], *ends))
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
    """The token axis, log2 with a place for 0 an octave left of the least, and where it stands.

    Attributes:
        low, high: the ends of x.
        zero: x of no tokens, None where every point has some.
        left, top, width, height: of the panel, inches from the figure's upper left corner.
    """

    low: float
    high: float
    zero: float | None
    left: float
    top: float
    width: float
    height: float

    def place(self, tokens: float) -> float:
        """Return x for a mean of tokens."""
        if tokens <= 0:
            return self.low if self.zero is None else self.zero
        return math.log2(tokens)

    def x(self, place: float) -> float:
        """Return inches from the left for x."""
        return self.left + self.width * (place - self.low) / (self.high - self.low)

    def place_at(self, inches: float) -> float:
        """Return x for inches from the left."""
        return self.low + (inches - self.left) * (self.high - self.low) / self.width

    def y(self, rate: float) -> float:
        """Return inches from the top for a rate."""
        low, high = LIMITS
        return self.top + self.height * (high - rate) / (high - low)


def make_plane(found: Sequence[Point], top: float, width: float, height: float) -> Plane:
    """Return the axis that holds all points, at least two octaves wide, in a panel (inches)."""
    logs = [math.log2(point.tokens) for point in found if point.tokens > 0] or [10.0]
    low, high = min(logs), max(logs)
    zero = low - 1 if any(point.tokens <= 0 for point in found) else None
    low = low if zero is None else zero
    room = max(0.0, _OCTAVES - (high - low)) / 2 + _EDGE * max(_OCTAVES, high - low)
    # Marks set aside and the numbers beside them have their room inside the panel too.
    room = max(room, _ENDS * (high - low) / (width - 2 * _ENDS))
    return Plane(low - room, high + room, zero, style.LEFT, top, width, height)


@dataclass(frozen=True)
class Mark:
    """One point, or several of one agent at the same place.

    Attributes:
        points: by budget.
        shift: how far it stands from its place, inches, so that no other agent's mark hides it.
        x, y: where it stands, inches from the figure's upper left corner.
    """

    points: tuple[Point, ...]
    x: float
    y: float
    shift: float = 0.0

    @property
    def agent(self) -> str:
        """Whose it is."""
        return self.points[0].agent


def make_marks(
    plane: Plane, found: Sequence[Point], looks: Mapping[str, Look]
) -> tuple[list[Mark], bool]:
    """Return all marks, those of coloured agents side by side, and whether all of these are clear."""
    marks: list[Mark] = []
    for point in found:
        x, y = plane.x(plane.place(point.tokens)), plane.y(point.rate)
        same = next(
            (
                place
                for place, mark in enumerate(marks)
                if mark.agent == point.agent and math.hypot(mark.x - x, mark.y - y) < _ONE_MARK
            ),
            None,
        )
        if same is None:
            marks.append(Mark((point,), x, y))
        else:
            marks[same] = replace(marks[same], points=(*marks[same].points, point))
    front_of = [mark for mark in marks if mark.agent in looks]
    spots = [_spot(plane, mark) for mark in front_of]
    xs, clear = set_apart(spots, plane.left + 0.04, plane.left + plane.width - 0.04)
    moved = [replace(mark, x=x, shift=x - mark.x) for mark, x in zip(front_of, xs, strict=True)]
    return [*moved, *(mark for mark in marks if mark.agent not in looks)], clear


def _spot(plane: Plane, mark: Mark) -> Spot:
    highs = [point.high for point in mark.points if point.high is not None]
    lows = [point.low for point in mark.points if point.low is not None]
    return Spot(
        mark.agent,
        mark.x,
        mark.y,
        plane.y(max(highs)) if highs else mark.y,
        plane.y(min(lows)) if lows else mark.y,
    )


def mark_of(marks: Sequence[Mark], point: Point) -> Mark:
    """Return the mark that stands for a point."""
    return next(mark for mark in marks if point in mark.points)


def budgets(labels: Sequence[str], rungs: Sequence[int]) -> str:
    """Return the budgets of a mark: `1, 4`, and `1-8` for three or more that follow each other."""
    runs: list[list[int]] = []
    for rung in sorted(rungs):
        if runs and runs[-1][-1] == rung - 1 and labels[rung] != "no cap":
            runs[-1].append(rung)
        else:
            runs.append([rung])
    told = []
    for run in runs:
        names = [labels[rung] for rung in run]
        told.append(f"{names[0]}-{names[-1]}" if len(run) > 2 else ", ".join(names))
    return ", ".join(told)
