"""The words inside `pareto`: whose marks these are, and under which budgets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from matplotlib.figure import Figure

from frozenbench.figures import style
from frozenbench.figures.pareto_marks import Mark, Plane, budgets
from frozenbench.figures.placing import Rectangle, place_near, spread, wrap
from frozenbench.figures.style import Look

#: Inches: the widest name beside a mark; how far marks, and (across, along) bars and lines, keep
#: names of others away.
_NAME, _FROM_MARKS, _FROM_BARS, _FROM_LINES = 1.45, 0.14, (0.03, 0.08), (0.04, 0.04)
#: Places at which a name may lie over its own line before it goes to the right of the panel.
_CROSSED = 1
#: How a number is placed, best first: inches from its mark, and places where it may meet a line.
_NEAR = ((0.06, 0), (0.09, 0), (0.06, 3), (0.15, 0), (0.22, 0), (0.15, 3), (0.22, 5), (0.3, 8))
#: From here on a thin line joins a number and its mark, inches.
_JOINED = 0.15
#: Above so many marks only those of the front are numbered.
MOST_NUMBERED = 32
#: Line pitch of names, and what keeps those at the right apart, multiples of the size.
_LEADING, _BETWEEN = 1.18, 0.5
#: Room of the marker before a name at the right, inches.
_GLYPH = 0.13


@dataclass(frozen=True)
class Name:
    """An agent's name: its lines, and where it stands, inches; `beside` is False at the right."""

    agent: str
    lines: tuple[str, ...]
    spot: Rectangle
    beside: bool


@dataclass(frozen=True)
class Number:
    """The budgets of a mark, and where they stand, inches."""

    mark: Mark
    text: str
    spot: Rectangle
    joined: bool

    @property
    def joint(self) -> list[Rectangle]:
        """Samples of the line between both, where there is one."""
        mark = (self.mark.x, self.mark.y)
        return _samples([mark, _nearest(self.spot, self.mark)]) if self.joined else []

    @property
    def covered(self) -> list[Rectangle]:
        """What no other word may cover."""
        return [self.spot, *self.joint]


@dataclass(frozen=True)
class Labels:
    """All words inside the panel, and what they need.

    Attributes:
        missing: marks of the front that found no place for their number.
        height: of the names at the right with the room between them, inches.
    """

    names: tuple[Name, ...]
    numbers: tuple[Number, ...]
    missing: int
    height: float


def column_width(looks: Mapping[str, Look], most: float) -> float:
    """Return what names at the right of the panel take, inches, at most `most`."""
    return min(most, _GLYPH + max((_bold(agent) for agent in looks), default=0.0) + 0.01)


def place_labels(
    plane: Plane,
    labels: Sequence[str],
    looks: Mapping[str, Look],
    marks: Sequence[Mark],
    best: Sequence[Mark],
    column: float,
) -> Labels:
    """Place numbers of the front, then names, then the other numbers, so that none covers another.

    A name that has no place beside a mark goes to the right, joined to its last mark by a line;
    whatever that line would cross is placed anew.

    Args:
        plane: the axis at its place.
        labels: the caps as plain numbers, by rung.
        looks: the coloured agents.
        marks, best: all marks, and those of the front from left to right.
        column: inches that names at the right may take.
    """
    room = _Room(plane, labels, looks, marks, best)
    homeless: list[str] = []
    while True:
        at_right, height = _column(plane, marks, homeless, column)
        leaders = [
            sample
            for name in at_right
            for sample in _samples([_start(marks, name.agent), _end(name)])
        ]
        taken = [*room.taken, *leaders]
        numbers = room.number(best, taken, len(_NEAR))
        taken += [place for number in numbers for place in number.covered]
        names, lost = room.name([agent for agent in looks if agent not in homeless], taken)
        if not lost:
            break
        homeless = [agent for agent in looks if agent in homeless or agent in lost]
    missing = len(best) - len(numbers)
    taken += [name.spot for name in names]
    if len(room.coloured) <= MOST_NUMBERED:
        others = [mark for mark in room.coloured if mark not in best]
        numbers += room.number(others, taken, 2)
    return Labels((*names, *at_right), tuple(numbers), missing, height)


@dataclass(frozen=True)
class _Room:
    """What words must keep clear of, and how they find a place."""

    plane: Plane
    labels: Sequence[str]
    looks: Mapping[str, Look]
    marks: Sequence[Mark]
    best: Sequence[Mark]

    @cached_property
    def coloured(self) -> list[Mark]:
        """The marks of coloured agents."""
        return [mark for mark in self.marks if mark.agent in self.looks]

    @cached_property
    def taken(self) -> list[Rectangle]:
        """What no word may cover: marks and intervals."""
        found = [_around(mark, 0.045 if mark.agent in self.looks else 0.02) for mark in self.marks]
        return found + [bar for mark in self.coloured for bar in _bars(self.plane, mark)]

    @cached_property
    def lines(self) -> dict[str, list[Rectangle]]:
        """Samples of the line of each coloured agent."""
        return {agent: _line(self.marks, agent) for agent in self.looks}

    @cached_property
    def steps(self) -> list[Rectangle]:
        """Samples of the front."""
        return _samples(staircase(self.best))

    @cached_property
    def inside(self) -> Rectangle:
        """Where words may stand: also beside a mark at 100 %, which is at the very top."""
        plane = self.plane
        right, bottom = plane.left + plane.width, plane.top + plane.height
        return Rectangle(plane.left + 0.02, plane.top - 0.03, right, bottom - 0.02)

    def number(self, marks: Sequence[Mark], taken: Sequence[Rectangle], tries: int) -> list[Number]:
        """Place the budgets of marks, each clear of those before it; some may find no place."""
        lines = [sample for held in self.lines.values() for sample in held] + self.steps
        found: list[Number] = []
        walls = list(taken)
        for mark in marks:
            text = budgets(self.labels, [point.rung for point in mark.points])
            size = style.width_of(text, style.NOTE), style.NOTE / 72
            for gap, most in _NEAR[:tries]:
                spot = place_near(
                    [(mark.x, mark.y)], size, gap, walls, lines, self.inside, True, most
                )
                if spot is None:
                    continue
                number = Number(mark, text, spot, gap >= _JOINED)
                if any(place.meets(other.spot) for place in number.joint for other in found):
                    continue
                found.append(number)
                walls += number.covered
                break
        return found

    def name(
        self, agents: Sequence[str], taken: Sequence[Rectangle]
    ) -> tuple[list[Name], list[str]]:
        """Place names beside marks, and return those of agents that find no place there."""
        found: list[Name] = []
        lost: list[str] = []
        for agent in agents:
            if any(mark.agent == agent for mark in self.marks):
                spot = self._beside(agent, [*taken, *(name.spot for name in found)])
                lines = tuple(wrap(agent, _NAME, _bold))
                if spot is None:
                    lost.append(agent)
                else:
                    found.append(Name(agent, lines, spot, True))
        return found, lost

    def _beside(self, agent: str, taken: Sequence[Rectangle]) -> Rectangle | None:
        """Return a place nearer to a mark of the agent than to marks, bars and lines of others."""
        lines = wrap(agent, _NAME, _bold)
        size = max(map(_bold, lines)), (1 + (len(lines) - 1) * _LEADING) * style.END_LABEL / 72
        others = [mark for mark in self.coloured if mark.agent != agent]
        walls = [
            *taken,
            *self.steps,
            *(_around(mark, _FROM_MARKS) for mark in others),
            *(_wider(bar, *_FROM_BARS) for mark in others for bar in _bars(self.plane, mark)),
            *(
                _wider(sample, *_FROM_LINES)
                for name, held in self.lines.items()
                if name != agent
                for sample in held
            ),
        ]
        own = [mark for mark in self.marks[::-1] if mark.agent == agent]
        at = [(mark.x, mark.y) for mark in own]
        spot = place_near(at, size, 0.075, walls, self.lines[agent], self.inside, most=_CROSSED)
        if spot is not None:
            return spot
        # Else at the ends of its intervals, which are as plainly its own.
        ends = [
            (mark.x, y)
            for mark in own
            for bar in _bars(self.plane, mark)
            for y in (bar.top, bar.bottom)
        ]
        return place_near(ends, size, 0.035, walls, self.lines[agent], self.inside, most=0)


def draw_labels(
    figure: Figure, plane: Plane, looks: Mapping[str, Look], marks: Sequence[Mark], labels: Labels
) -> None:
    """Write names and numbers in the colours of their agents."""
    for name in labels.names:
        look = looks[name.agent]
        size, left = style.END_LABEL / 72, name.spot.left
        if not name.beside:
            end = _end(name)
            style.leader(figure, _start(marks, name.agent), end, look.mark)
            style.glyph(figure, (left + 0.04, end[1]), look)
            left += _GLYPH
        for place, line in enumerate(name.lines):
            y = name.spot.top + (0.81 + place * _LEADING) * size
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
    for number in labels.numbers:
        spot, mark = number.spot, number.mark
        look = looks.get(mark.agent, style.REST)
        if number.joined:
            style.leader(figure, (mark.x, mark.y), _nearest(spot, mark), look.mark)
        style.put(figure, spot.left, spot.top, number.text, style.NOTE, color=look.text)


def staircase(best: Sequence[Mark]) -> list[tuple[float, float]]:
    """Return the corners of the front, inches, from left to right."""
    corners: list[tuple[float, float]] = []
    for mark in best:
        # A mark that was set aside never takes the front back to the left.
        x = max(mark.x, corners[-1][0]) if corners else mark.x
        corners += [(x, corners[-1][1]), (x, mark.y)] if corners else [(x, mark.y)]
    return corners


def _column(
    plane: Plane, marks: Sequence[Mark], agents: Sequence[str], width: float
) -> tuple[list[Name], float]:
    """Place names at the right of the panel, each near the height of its rightmost mark."""
    last = {
        agent: max((mark for mark in marks if mark.agent == agent), key=lambda mark: mark.x)
        for agent in agents
    }
    order = sorted(agents, key=lambda agent: last[agent].y)
    lines = [wrap(agent, width - _GLYPH, _bold) for agent in order]
    size = style.END_LABEL / 72
    heights = [(_BETWEEN + 1 + (len(text) - 1) * _LEADING) * size for text in lines]
    wanted = [last[agent].y for agent in order]
    centres = spread(wanted, heights, plane.top, plane.top + plane.height)
    left = plane.left + plane.width + 0.09
    found = []
    for agent, text, centre, height in zip(order, lines, centres, heights, strict=True):
        half = (height - _BETWEEN * size) / 2
        right = left + _GLYPH + max(map(_bold, text))
        found.append(
            Name(agent, tuple(text), Rectangle(left, centre - half, right, centre + half), False)
        )
    return found, sum(heights)


def _nearest(spot: Rectangle, mark: Mark) -> tuple[float, float]:
    """Return the corner or side of a place that is nearest to a mark."""
    x, y = min(max(mark.x, spot.left), spot.right), min(max(mark.y, spot.top), spot.bottom)
    return x, y


def _start(marks: Sequence[Mark], agent: str) -> tuple[float, float]:
    """Return where the line to a name at the right begins: at the agent's rightmost mark."""
    last = max((mark for mark in marks if mark.agent == agent), key=lambda mark: mark.x)
    return last.x + 0.06, last.y


def _end(name: Name) -> tuple[float, float]:
    return name.spot.left - 0.03, (name.spot.top + name.spot.bottom) / 2


def _bold(line: str) -> float:
    return style.width_of(line, style.END_LABEL, bold=True)


def _around(mark: Mark, half: float) -> Rectangle:
    return Rectangle(mark.x - half, mark.y - half, mark.x + half, mark.y + half)


def _wider(place: Rectangle, across: float, along: float) -> Rectangle:
    return Rectangle(
        place.left - across, place.top - along, place.right + across, place.bottom + along
    )


def _bars(plane: Plane, mark: Mark) -> list[Rectangle]:
    """Return the intervals of a mark."""
    ends = [
        (plane.y(point.high), plane.y(point.low))
        for point in mark.points
        if point.low is not None and point.high is not None
    ]
    return [Rectangle(mark.x - 0.015, top, mark.x + 0.015, bottom) for top, bottom in ends]


def _line(marks: Sequence[Mark], agent: str) -> list[Rectangle]:
    """Return samples of the line through an agent's marks."""
    own = [mark for mark in marks if mark.agent == agent]
    order = sorted(own, key=lambda mark: mark.points[0].rung)
    return _samples([(mark.x, mark.y) for mark in order])


def _samples(corners: Sequence[tuple[float, float]]) -> list[Rectangle]:
    """Return small rectangles along a line, close enough that no text passes between them."""
    samples = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / 0.04))
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            samples.append(Rectangle(x - 0.005, y - 0.005, x + 0.005, y + 0.005))
    return samples
