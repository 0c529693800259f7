"""The results page as Markdown: README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from frozenbench.pages.blocks import (
    Block,
    Cell,
    Code,
    Items,
    Page,
    Paragraph,
    Picture,
    Stories,
    Subheading,
    Table,
    cell_text,
    spans,
)


def markdown(page: Page) -> str:
    """Return the whole page; traces stand in index.html alone."""
    lines = [f"# {_text(page.title)}", ""]
    for block in page.lead:
        lines += _block(block)
    for section in page.sections:
        lines += [f"## {_text(section.title)}", ""]
        for block in section.blocks:
            lines += _block(block)
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield _text(text)
        case Subheading(text):
            yield f"### {_text(text)}"
        case Items(items):
            for item in items:
                yield f"- {_text(item.text)}"
                mark = "  " if item.run_on else "  - "
                yield from (mark + _text(below) for below in item.below)
        case Table():
            yield from _table(block)
        case Picture(figure, text):
            told = re.sub(r"[\[\]]", "", _text(text))
            yield f"![{told}](figures/{figure}.png)"
        case Code(lines):
            yield from (f"    {line}" for line in lines)
        case Stories(stories):
            commands = [story.command for story in stories if story.command]
            yield "`index.html` beside this file shows these cells step by step."
            if commands:
                yield ""
                yield from (f"    {command}" for command in commands)
    yield ""


def _table(block: Table) -> Iterator[str]:
    def line(values: tuple[Cell, ...] | list[str]) -> str:
        return "| " + " | ".join(_text(cell_text(v)).replace("|", "\\|") for v in values) + " |"

    yield line(block.head)
    yield line(["---"] * len(block.head))
    yield from map(line, block.rows)


def _text(text: str) -> str:
    """Keep text on its line, and HTML out of it; code shows what it holds."""
    parts = []
    for span in spans(" ".join(text.split())):
        if span.kind == "code":
            parts.append(f"`{span.text}`")
        else:
            mark = {"strong": "**", "em": "*"}.get(span.kind, "")
            parts.append(mark + span.text.replace("&", "&amp;").replace("<", "&lt;") + mark)
    return "".join(parts)
