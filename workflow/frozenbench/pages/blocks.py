"""What a results page is made of: sections of blocks, written once as Markdown, HTML and RST.

Texts are plain but for `code`, **strong** and *emphasis*; a backslash before one of these signs, or
before a backslash, takes its meaning away. What packs, agents, models and logs call things goes
through `plain` or `code`. Each writer escapes everything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from frozenbench import number_text

_SIGNS = "\\`*"
_ESCAPED = re.compile(r"\\([\\`*])")
#: What stands for an escaped sign while text is split: code points that no text may hold.
_PLACES = {ord(sign): 0xFDD0 + place for place, sign in enumerate(_SIGNS)}
_BACK = {place: sign for sign, place in _PLACES.items()}
_CODE = re.compile(r"`([^`]*)`")
_MARKED = re.compile(r"\*\*([^*]+)\*\*|(?<![\w*])\*([^\s*][^*]*)\*(?![\w*])")


@dataclass(frozen=True)
class Rate:
    """A rate with its 95 % interval, all in [0, 1]; None where it is not to be had.

    `strong` marks it; a `compact` one has neither its unit nor a picture beside it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    strong: bool = True
    compact: bool = False

    @property
    def text(self) -> str:
        """The rate as text; null stays null."""
        if self.value is None or self.low is None or self.high is None:
            return "null"
        rate, mark = percent(self.value), "**" if self.strong else ""
        told = rate.removesuffix(" %") if self.compact else rate
        return f"{mark}{told}{mark} {interval(self.low, self.high)}"


@dataclass(frozen=True)
class Lines:
    """A cell of a table that holds several lines."""

    lines: tuple[str, ...]


Cell = str | int | float | Rate | Lines


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

    The first `names` columns name the row; `sortable` is false where its order means something, and
    `stacked` where its rows are better read one below the other in a narrow window.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1
    sortable: bool = True
    stacked: bool = False


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
    stacked: bool = False,
) -> Table:
    """Return a table."""
    cells = tuple(tuple(row) for row in rows)
    return Table(caption, tuple(head), cells, names, sortable, stacked)


def percent(value: float | None) -> str:
    """Return a rate as text; null stays null."""
    return "null" if value is None else f"{number_text.percent(value)} %"


def interval(low: float, high: float) -> str:
    """Return an interval of a rate as text, in whole per cent."""
    return f"[{100 * low:.0f}, {100 * high:.0f}]"


def count(number: int, word: str, several: str | None = None) -> str:
    """Return `1 task`, `2 tasks`, `1,000 tasks`."""
    return f"{number:,} " + (word if number == 1 else several or f"{word}s")


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def plain(text: object) -> str:
    """Return a name or another text from outside so that no sign of it is a mark."""
    return re.sub(r"[\\`*]", r"\\\g<0>", str(text))


def code(text: object) -> str:
    """Return a name or another text from outside as code."""
    return f"`{plain(text)}`"


def cell_text(cell: Cell, between: str = "; ") -> str:
    """Return a cell of a table as text; `between` stands between its lines."""
    if isinstance(cell, Lines):
        return between.join(cell.lines)
    return cell.text if isinstance(cell, Rate) else str(cell)


@dataclass(frozen=True)
class Span:
    """A piece of text: plain, code, strong or em."""

    kind: str
    text: str


def spans(text: str) -> list[Span]:
    """Split text at its marks; what no mark closes is plain."""
    held = _ESCAPED.sub(lambda found: chr(_PLACES[ord(found[1])]), text)
    found: list[Span] = []
    end = 0
    for match in _CODE.finditer(held):
        found += _marked(held[end : match.start()])
        found.append(Span("code", match[1]))
        end = match.end()
    found += _marked(held[end:])
    return [Span(span.kind, span.text.translate(_BACK)) for span in found if span.text]


def _marked(text: str) -> list[Span]:
    found: list[Span] = []
    end = 0
    for mark in _MARKED.finditer(text):
        found.append(Span("plain", text[end : mark.start()]))
        found.append(Span("strong", mark[1]) if mark[1] else Span("em", mark[2]))
        end = mark.end()
    found.append(Span("plain", text[end:]))
    return found
