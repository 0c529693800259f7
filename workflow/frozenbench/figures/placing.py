"""Where text goes: wrapping, column widths and labels spread so that none covers another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from frozenbench.canonical import BadInput

#: Gives the width of one line of text in inches.
Measure = Callable[[str], float]

#: A name may break after these, but not within a date; nothing is added and nothing is left out.
_PIECE = re.compile(r"(?:[^-_/:,; ]|(?<=\d)-(?=\d))+[-_/:,; ]*|[-_/:,; ]+")


def wrap(text: str, width: float, measure: Measure) -> list[str]:
    """Break `text` into lines of at most `width` inches, after spaces and `-_/:,;` where possible.

    A piece that is too long by itself breaks anywhere. Joined again, the lines hold every
    character but the spaces at their ends.
    """
    lines = [""]
    for piece in _PIECE.findall(text):
        if measure((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
            continue
        if lines[-1]:
            lines.append("")
        for letter in piece:
            if lines[-1] and measure((lines[-1] + letter).rstrip()) > width:
                lines.append("")
            lines[-1] += letter
    return [line.rstrip() for line in lines if line.strip()] or [""]


def wrap_words(text: str, width: float, measure: Measure) -> list[str]:
    """Break running text at spaces (not at no-break ones); longer words break as in `wrap`."""
    lines: list[str] = []
    for word in filter(None, text.split(" ")):
        if lines and measure(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines += wrap(word, width, measure)
    return lines


def fit_columns(
    natural: Sequence[float], least: Sequence[float], available: float, names: Sequence[str]
) -> list[float]:
    """Return column widths that fit into `available` inches: the widest give way first.

    Raises:
        BadInput: the columns do not fit even at their least widths; names the widest.
    """
    floors = [min(pair) for pair in zip(natural, least, strict=True)]
    if sum(floors) > available + 1e-9:
        widest = names[max(range(len(names)), key=lambda place: floors[place])]
        raise BadInput(
            f"figure: header: {widest}: the columns of the controls need {sum(floors):.2f} in and "
            f"have {available:.2f} in; controls are never cut; cure: a shorter value"
        )
    limit = max(natural)
    while True:
        widths = [max(low, min(wide, limit)) for wide, low in zip(natural, floors, strict=True)]
        if sum(widths) <= available + 1e-9:
            return widths
        limit -= 0.01


def spread(
    wanted: Sequence[float], heights: Sequence[float], low: float, high: float
) -> list[float]:
    """Move label centres as little as possible (least squares) so that none covers another.

    Args:
        wanted: where each centre would be best, rising; labels keep this order.
        heights: the room that each label takes.
        low, high: the room of all; exceeded at both ends alike where the labels need more.
    """
    if not wanted:
        return []
    total = sum(heights)
    if total > high - low:
        middle = (low + high) / 2
        low, high = middle - total / 2, middle + total / 2
    # Subtract each label's stacked place: "apart enough" turns into "not falling", and
    # the least-squares answer is found by pooling neighbours that violate it.
    stacked = [sum(heights[:place]) + heights[place] / 2 for place in range(len(heights))]
    blocks: list[tuple[float, int]] = []
    for want, offset in zip(wanted, stacked, strict=True):
        mean, size = want - offset, 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    moved = [mean for mean, size in blocks for _ in range(size)]
    return [
        min(max(base, low), high - total) + offset
        for base, offset in zip(moved, stacked, strict=True)
    ]


def stagger(centres: Sequence[float], widths: Sequence[float], gap: float) -> list[int]:
    """Return for each label on an axis the row, from 0, in which it touches no other."""
    ends: list[float] = []
    rows: list[int] = []
    for centre, width in zip(centres, widths, strict=True):
        start = centre - width / 2
        row = next((row for row, end in enumerate(ends) if start >= end + gap), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = centre + width / 2
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Rectangle:
    """A place in inches from the upper left corner: `top` is less than `bottom`."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        """Tell whether the two share any room."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: Rectangle) -> bool:
        """Tell whether `other` lies inside."""
        level = self.left <= other.left and other.right <= self.right
        return level and self.top <= other.top and other.bottom <= self.bottom


def place_near(
    marks: Iterable[tuple[float, float]],
    size: tuple[float, float],
    gap: float,
    taken: Sequence[Rectangle],
    soft: Sequence[Rectangle],
    inside: Rectangle,
    left_first: bool = False,
    most: int | None = None,
) -> Rectangle | None:
    """Return a free place for text of `size` (width, height) beside one of `marks`, or None.

    It lies `inside`, meets nothing that is `taken`, and as little of what is `soft` as it can; of
    equals the first, marks in their order, right of a mark before left of it unless `left_first`.
    A place that meets more than `most` of what is `soft` is none.
    """
    best: tuple[int, Rectangle] | None = None
    for mark in marks:
        for spot in _beside(mark, size, gap, left_first):
            if not inside.holds(spot) or any(spot.meets(other) for other in taken):
                continue
            touched = sum(spot.meets(other) for other in soft)
            if most is not None and touched > most:
                continue
            if best is None or touched < best[0]:
                best = (touched, spot)
        if best is not None and best[0] == 0:
            break
    return best[1] if best is not None else None


def _beside(
    mark: tuple[float, float], size: tuple[float, float], gap: float, left_first: bool
) -> list[Rectangle]:
    (x, y), (width, height) = mark, size
    right, left, centre = x + gap, x - gap - width, x - width / 2
    above, level, below = y - gap - height, y - height / 2, y + gap
    near = [(right, level), (right, below), (right, above), (centre, above), (centre, below)]
    far = [(left, level), (left, above), (left, below)]
    corners = [(left, above), *far[:1], (centre, above), *near] if left_first else near + far
    return [Rectangle(x, y, x + width, y + height) for x, y in corners]
