"""What a results page is made of: sections of blocks, written once as Markdown, HTML and RST.

Texts are plain but for `code`, **strong** and *emphasis*; each writer escapes everything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_CODE = re.compile(r"`([^`]*)`")
_MARKED = re.compile(r"\*\*([^*]+)\*\*|(?<![\w*])\*([^\s*][^*]*)\*(?![\w*])")


@dataclass(frozen=True)
class Rate:
    """A rate with its 95 % interval, all in [0, 1]; None where it is not to be had."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """The rate as text; null stays null."""
        if self.value is None or self.low is None or self.high is None:
            return "null"
        return f"**{100 * self.value:.1f} %** [{100 * self.low:.0f}, {100 * self.high:.0f}]"


Cell = str | int | float | Rate


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Subheading:
    """A heading below that of its section."""

    text: str


@dataclass(frozen=True)
class Item:
    """One entry of a list, and what stands below it."""

    text: str
    below: tuple[str, ...] = ()
    run_on: bool = False


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Table:
    """A table; `caption` names it for those who do not see where it stands.

    The first `names` columns name the row; `sortable` is false where its order means something.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1
    sortable: bool = True


@dataclass(frozen=True)
class Picture:
    """A figure of the view, with what it shows in words."""

    figure: str
    text: str


@dataclass(frozen=True)
class Code:
    """Lines to be typed."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One step of a run: what the agent said, and what it changed since the step before."""

    title: str
    said: str | None
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Story:
    """One cell: its names, its outcome, its digests, and its steps or why they are not shown."""

    title: str
    outcome: str
    facts: tuple[tuple[str, str], ...]
    prompt: str | None
    steps: tuple[Step, ...]
    command: str | None
    not_shown: str | None = None


@dataclass(frozen=True)
class Stories:
    """Cells to be read step by step."""

    stories: tuple[Story, ...]


Block = Paragraph | Subheading | Items | Table | Picture | Code | Stories


@dataclass(frozen=True)
class Section:
    """A section; `key` is its address on the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A page: its title, what comes first, and its sections."""

    title: str
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    names: int = 1,
    sortable: bool = True,
) -> Table:
    """Return a table."""
    return Table(caption, tuple(head), tuple(tuple(row) for row in rows), names, sortable)


def percent(value: float | None) -> str:
    """Return a rate as text; null stays null."""
    return "null" if value is None else f"{100 * value:.1f} %"


def cell_text(cell: Cell) -> str:
    """Return a cell of a table as text."""
    return cell.text if isinstance(cell, Rate) else str(cell)


@dataclass(frozen=True)
class Span:
    """A piece of text: plain, code, strong or em."""

    kind: str
    text: str


def spans(text: str) -> list[Span]:
    """Split text at its marks; what no mark closes is plain."""
    found: list[Span] = []
    end = 0
    for code in _CODE.finditer(text):
        found += _marked(text[end : code.start()])
        found.append(Span("code", code[1]))
        end = code.end()
    return found + _marked(text[end:])


def _marked(text: str) -> list[Span]:
    found: list[Span] = []
    end = 0
    for mark in _MARKED.finditer(text):
        found.append(Span("plain", text[end : mark.start()]))
        found.append(Span("strong", mark[1]) if mark[1] else Span("em", mark[2]))
        end = mark.end()
    found.append(Span("plain", text[end:]))
    return [span for span in found if span.text]
