"""The results page as Markdown: README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from frozenbench.markdown_signs import markdown_plain
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Code,
    Items,
    Lines,
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
            told = re.sub(r"[\[\]]", "", _text(text, marks=False))
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
    def line(values: Sequence[str]) -> str:
        return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"

    yield f"*{_text(block.caption, marks=False)}*"
    yield ""
    yield line([_text(head) for head in block.head])
    yield line(["---"] * len(block.head))
    for row in block.rows:
        yield line([_cell(cell) for cell in row])


def _cell(cell: Cell) -> str:
    """Return a cell on one line of Markdown."""
    return "<br>".join(map(_text, cell.lines if isinstance(cell, Lines) else [cell_text(cell)]))


def _text(text: str, marks: bool = True) -> str:
    """Keep text on its line, and HTML and marks of its own out of it; code shows what it holds."""
    parts = []
    for span in spans(" ".join(text.split())):
        if span.kind == "code" and marks:
            parts.append(_code(span.text))
        else:
            mark = {"strong": "**", "em": "*"}.get(span.kind, "") if marks else ""
            parts.append(mark + _outer(span.text) + mark)
    return "".join(parts)


def _code(text: str) -> str:
    """Return code between more backticks than it holds in a row."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {text} {ticks}" if longest else f"{ticks}{text}{ticks}"


def _outer(text: str) -> str:
    """Return plain text between marks; white space at its ends stays."""
    before, after = (" " if text[place].isspace() else "" for place in (0, -1))
    told = markdown_plain(text)
    return f"{before}{told}{after}" if told else before
