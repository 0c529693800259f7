"""Lead flips: the span in which rank 1 changes hands, through all panels, with its words on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs, Row
from frozenbench.figures.marks import Panel
from frozenbench.figures.placing import stagger, wrap
from frozenbench.figures.scale import Scale

# Inches: line pitch of the words, above them, below them (a bracket and a mark at 100 %).
_PITCH, _ABOVE, _BELOW = 0.105, 0.03, 0.07
#: The share of the panel's width that "old → new" may take on one line.
_ONE_LINE = 0.45


@dataclass(frozen=True)
class LeadSpan:
    """The lead flips with one pair of confirmed budgets, and where their words stand.

    Attributes:
        low, high: on the budget axis, from the last budget where the old order is resolved to the
            first where the new one is.
        centre: of the words, inches from the panel's left.
        top, bottom: of the words and of the room they take, inches below the panel's top.
    """

    low: float
    high: float
    lines: tuple[str, ...]
    centre: float
    top: float
    bottom: float


def lead_spans(inputs: Inputs, scale: Scale) -> list[LeadSpan]:
    """Return the spans of all lead flips, their words in rows so that none covers another."""
    width = scale.width
    grouped: dict[tuple[float, float], list[str]] = {}
    names = [rung.name for rung in inputs.rungs]
    for row in inputs.flips:
        if row["lead"]:
            ends = (row["confirmed_from"], row["confirmed_to"])
            low, high = (scale.places[names.index(name)] for name in ends)
            grouped.setdefault((low, high), ["lead flips"]).extend(_words(row, width))
    spans = sorted(grouped)
    wide = [max(map(_width, grouped[span])) for span in spans]
    centres = [
        min(max(scale.inches(sum(span) / 2), room / 2), width - room / 2)
        for span, room in zip(spans, wide, strict=True)
    ]
    # Words with the bracket under them, which is as wide as the span.
    reach = [
        (min(centre - room / 2, scale.inches(low)), max(centre + room / 2, scale.inches(high)))
        for (low, high), centre, room in zip(spans, centres, wide, strict=True)
    ]
    order = sorted(range(len(spans)), key=lambda place: reach[place])
    rows = stagger(
        [sum(reach[i]) / 2 for i in order], [reach[i][1] - reach[i][0] for i in order], 0.1
    )
    row_of = dict(zip(order, rows, strict=True))
    heights = [
        max(len(grouped[spans[i]]) for i in order if row_of[i] == row) * _PITCH + _ABOVE + _BELOW
        for row in range(max(rows, default=-1) + 1)
    ]
    return [
        LeadSpan(
            *span,
            tuple(grouped[span]),
            centres[place],
            sum(heights[: row_of[place]]) + _ABOVE,
            sum(heights[: row_of[place] + 1]),
        )
        for place, span in enumerate(spans)
    ]


def _width(line: str) -> float:
    return style.width_of(line, style.NOTE)


def _words(row: Row, width: float) -> list[str]:
    """Return "old → new" in one line where it is short, else broken at the arrow and in names."""
    whole = f"{row['old_leader']} → {row['new_leader']}"
    if _width(whole) <= _ONE_LINE * width:
        return [whole]
    return [
        line
        for part in (str(row["old_leader"]), f"→ {row['new_leader']}")
        for line in wrap(part, width, _width)
    ]


def draw_spans(spans: Sequence[LeadSpan], panels: Sequence[Panel]) -> None:
    """Draw spans through all panels, and the words at the top of the first.

    A bracket under the words shows which span is theirs.
    """
    for span in spans:
        for panel in panels:
            panel.axes.axvspan(span.low, span.high, color=style.SPAN, linewidth=0, zorder=0)
        top = panels[0]
        for place, line in enumerate(span.lines):
            y = top.top + span.top + place * _PITCH
            x = top.left + span.centre
            style.put(top.figure, x, y, line, style.NOTE, ha="center")
        y = top.top + span.top + len(span.lines) * _PITCH + 0.025
        ends = top.x(span.low) + 0.02, top.x(span.high) - 0.02
        style.rule(top.figure, *ends, y, color=style.MUTED, ends="|")
