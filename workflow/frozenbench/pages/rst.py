"""The first page of `snakemake --report`, as reStructuredText: what was frozen, then the finding.

Snakemake reads it as a Jinja template and docutils as markup: every character that either could take
for its own is escaped, whatever packs, agents and logs call things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from frozenbench.pages.blocks import (
    Block,
    Cell,
    Items,
    Lines,
    Page,
    Paragraph,
    Subheading,
    Table,
    cell_text,
    spans,
)

#: Snakemake centres the page in its window: what is higher than that would be cut off at its top, where
#: the controls stand, and no scrolling would reach it.
_FROM_THE_TOP = (
    ".. raw:: html",
    "",
    "   <style>.h-screen.overflow-auto.items-center { align-items: flex-start }"
    " .h-screen.overflow-auto .prose { max-width: 60rem }"
    " .prose caption { text-align: left; font-weight: 600 } </style>",
    "",
)


def landing(page: Page, keys: tuple[str, ...]) -> str:
    """Return the title, the lead and the sections named by `keys`."""
    title = _text(page.title)  # underlined twice as long: some letters are two columns wide
    lines = [title, "=" * (2 * len(title)), "", *_FROM_THE_TOP]
    for block in page.lead:
        lines += _block(block)
    for section in page.sections:
        if section.key in keys:
            heading = _text(section.title)
            lines += [heading, "-" * (2 * len(heading)), ""]
            for block in section.blocks:
                lines += _block(block)
    return "\n".join(lines).rstrip() + "\n\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield _text(text)
        case Subheading(text):
            yield _text(text)
        case Items(items):
            for item in items:
                yield f"- {_text(item.text)}"
                for below in item.below:
                    yield ""
                    yield f"  {_text(below)}"
        case Table():
            yield f".. list-table:: {_text(block.caption)}"
            yield "   :header-rows: 1"
            yield ""
            for row in (block.head, *block.rows):
                for place, cell in enumerate(row):
                    yield from _cell(cell, "* -" if place == 0 else "  -")
        case _:  # what stands in sections that are not on the first page
            return
    yield ""


def _cell(cell: Cell, mark: str) -> Iterator[str]:
    """Yield a cell of a list table; its lines as a line block."""
    if not isinstance(cell, Lines):
        yield f"   {mark} {_text(cell_text(cell))}".rstrip()
        return
    for place, line in enumerate(cell.lines):
        yield f"   {mark if place == 0 else '   '} | {_text(line)}"


def _text(text: str) -> str:
    """Return running text on one line; marks are left out, since markup here needs spaces."""
    told = "".join(_escaped(span.text) for span in spans(" ".join(text.split())))
    return told.strip() or "\\ "


def _escaped(text: str) -> str:
    """Put a backslash before whatever is neither letter, digit nor space."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", text)
