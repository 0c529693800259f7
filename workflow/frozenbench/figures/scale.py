"""The budget axis: where each budget stands, and how marks of one budget stand beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from frozenbench.figures import style
from frozenbench.figures.inputs import Rung
from frozenbench.figures.placing import stagger

#: Inches that stay free between the outermost mark and the panel's edge.
_EDGE = 0.04
#: Above so many budgets, labels stand in at most two rows, else in three; some are left out then.
_MANY = 12
#: Room between two tick labels of one row, inches.
_LABELS_APART = 0.05
#: Marks are drawn no smaller than this share of their size.
_SMALLEST = 0.6


@dataclass(frozen=True)
class Scale:
    """log2 of the cap over the width of a panel; a budget without one stands a step after the last.

    Attributes:
        places: x of each rung, rising.
        labels: the caps as plain numbers.
        width: of the panel, inches.
        margin: from each end of the panel to the outermost budget, inches.
    """

    places: tuple[float, ...]
    labels: tuple[str, ...]
    width: float
    margin: float

    @property
    def per_inch(self) -> float:
        """How much of x an inch holds; one budget has the whole panel, one unit wide."""
        if len(self.places) == 1:
            return 1 / self.width
        return (self.places[-1] - self.places[0]) / (self.width - 2 * self.margin)

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of x."""
        beyond = self.per_inch * (self.width / 2 if len(self.places) == 1 else self.margin)
        return self.places[0] - beyond, self.places[-1] + beyond

    def inches(self, place: float) -> float:
        """Return how far x lies from the panel's left edge."""
        return (place - self.limits[0]) / self.per_inch

    @cached_property
    def rooms(self) -> tuple[tuple[float, float], ...]:
        """By rung, the inches left and right of its tick that are nearer to it than to another.

        At the ends, up to the panel's edge.
        """
        at = [self.inches(place) for place in self.places]
        halves = [(high - low) / 2 for low, high in pairwise(at)]
        left = [at[0] - _EDGE, *halves]
        right = [*halves, self.width - _EDGE - at[-1]]
        return tuple(zip(left, right, strict=True))

    def stand(self, rung: int, count: int, apart: float, mark: float) -> list[float]:
        """Return the offsets of `count` marks from a budget's tick, inches, rising.

        They are `apart` inches from each other, or as much as there is room for, and as near to
        the tick as they can be with every mark (`mark` inches wide) nearer to it than to another.
        """
        if count == 1:
            return [0.0]
        left, right = self.rooms[rung]
        gap = max(0.0, min(apart, (left + right - mark) / (count - 1)))
        half = gap * (count - 1) / 2
        low, high = half + mark / 2 - left, right - mark / 2 - half
        centre = min(max(0.0, low), high) if low <= high else (low + high) / 2
        return [centre + (place - (count - 1) / 2) * gap for place in range(count)]

    def shrink(self, counts: Sequence[int], apart: float, mark: float) -> tuple[float, bool]:
        """Return the share of their size at which marks are drawn, and whether all have room then.

        Args:
            counts: by rung, how many marks stand beside each other.
            apart, mark: their distance and width in full size, inches.
        """
        shares = [
            sum(room) / ((count - 1) * apart + mark)
            for room, count in zip(self.rooms, counts, strict=True)
        ]
        least = min(1.0, *shares)
        return max(_SMALLEST, least), least >= _SMALLEST

    @cached_property
    def tick_rows(self) -> tuple[int | None, ...]:
        """By rung, the row in which its label touches no other; None where it has no label."""
        centres = [self.inches(place) for place in self.places]
        widths = [style.width_of(text, style.AXIS) for text in self.labels]
        most = 2 if len(centres) > _MANY else 3
        rows = stagger(centres, widths, _LABELS_APART)
        if max(rows) < most:
            return tuple(rows)
        # First and last are always labelled: the last can be the one without a cap.
        order = [0, len(centres) - 1, *range(1, len(centres) - 1)]
        found: list[int | None] = [None] * len(centres)
        for place in order:
            free = (row for row in range(most) if _is_free(place, row, found, centres, widths))
            found[place] = next(free, None)
        return tuple(found)

    @property
    def all_labelled(self) -> bool:
        """Whether every tick has its number."""
        return None not in self.tick_rows


def _is_free(
    place: int,
    row: int,
    found: Sequence[int | None],
    centres: Sequence[float],
    widths: Sequence[float],
) -> bool:
    return all(
        abs(centres[place] - centres[other]) >= (widths[place] + widths[other]) / 2 + _LABELS_APART
        for other, held in enumerate(found)
        if held == row
    )


def make_scale(rungs: Sequence[Rung], width: float, group: float = 0.0) -> Scale:
    """Return the axis of a ladder over `width` inches.

    The outermost budgets stand a quarter of a mean step inside the panel, or as far as a group of
    marks `group` inches wide needs.
    """
    places = [math.log2(rung.cap) for rung in rungs if rung.cap is not None]
    steps = [high - low for low, high in pairwise(places)]
    if len(places) < len(rungs):
        places.append(places[-1] + (sum(steps) / len(steps) if steps else 1.0) if places else 0.0)
    labels = tuple(rung.label for rung in rungs)
    count = len(places)
    if count == 1:
        return Scale(tuple(places), labels, width, width / 2)
    margin = width / (4 * (count - 1) + 2)
    first = Scale(tuple(places), labels, width, margin)
    # A close neighbour leaves the group little room on its side, so that it needs more outside.
    inner = min(first.rooms[0][1], first.rooms[-1][0], group / 2)
    return Scale(tuple(places), labels, width, max(margin, group - inner + _EDGE))
