"""The results page as one HTML file: no network, no build step, nothing beside it is needed.

Everything that packs, agents, models and logs call things is escaped by the template. A content
security policy names the digests of the page's own style and script, so that nothing else could
run or load even if an escape were missed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from frozenbench import __version__
from frozenbench.outcomes import OUTCOMES
from frozenbench.pages.blocks import Cell, Lines, Page, Rate, Table, cell_text, spans

_FOLDER = Path(__file__).parent / "template"
_NUMBER = re.compile(r"^[<+]?([-−]?[\d,]*\.?\d+(?:e-\d+)?)(?=\s|$)")
#: What stands in a column of numbers where there is none; such rows come last.
_NO_NUMBER = ("null", "", "no cap", "none")
#: Characters up to which a cell stays on one line, and above which it is read as a sentence.
_SHORT, _SENTENCE = 24, 40
#: Rows above which a table scrolls in a box of its own, under its head.
_TALL = 30
#: Columns above which a table is set smaller on paper.
_MANY = 9
#: Bytes that a data URL holds as they are; the rest is written as %XX.
_AS_IT_IS = "".join(map(chr, range(0x20, 0x7F))).translate({ord(sign): None for sign in '"#%<>'})
_CLASS_SHORT = Markup(' class="short"')
_TAGS = {"code": "code", "strong": "strong", "em": "em"}


def html(page: Page, pictures: Mapping[str, bytes]) -> str:
    """Return the page; `pictures` holds figure -> SVG, and one that is absent is not shown."""
    style, script = ((_FOLDER / name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{_digest(style)}'; "
        f"script-src 'sha256-{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    return _template().render(
        page=page,
        pictures={name: quote(data, safe=_AS_IT_IS) for name, data in pictures.items()},
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        version=__version__,
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"inline": _inline, "kind": _kind, "told": _told, "line": _line}
    environment.globals |= {
        "columns": _columns,
        "width": _width,
        "head_width": _head_width,
        "key": _key,
        "bar": _bar,
        "outcome": _outcome,
        "tall": lambda table: len(table.rows) > _TALL,
        "many": lambda table: len(table.head) > _MANY,
    }
    return environment.get_template("index.html.j2")


def _inline(text: str) -> Markup:
    """Return text with its marks as tags, and everything else escaped."""
    parts = []
    for span in spans(text):
        tag = _TAGS.get(span.kind)
        short = span.kind == "code" and len(span.text) <= _SHORT
        parts.append(
            Markup("<{0}{2}>{1}</{0}>").format(
                Markup(tag), span.text, _CLASS_SHORT if short else ""
            )
            if tag
            else Markup("{}").format(span.text)
        )
    return Markup("").join(parts)


def _kind(block: object) -> str:
    return type(block).__name__


def _told(cell: Cell) -> Markup:
    if isinstance(cell, Lines):
        return Markup("<br>").join(map(_inline, cell.lines))
    return _inline(cell_text(cell))


def _key(cell: Cell) -> str | None:
    """Return the number that a cell is sorted by, None where it is text."""
    if isinstance(cell, Rate):
        return None if cell.value is None else repr(100 * cell.value)
    if isinstance(cell, int | float):
        return repr(cell)
    found = _NUMBER.match(cell_text(cell))
    return found[1].replace(",", "").replace("−", "-") if found else None


def _columns(table: Table) -> list[bool]:
    """Return for each column whether it holds numbers, but for cells that have none."""
    found = []
    for place in range(len(table.head)):
        cells = [row[place] for row in table.rows if cell_text(row[place]) not in _NO_NUMBER]
        found.append(bool(cells) and all(_key(cell) is not None for cell in cells))
    return found


def _width(cell: Cell, table: Table, place: int) -> str:
    """Return the class of a cell of text: a column that holds sentences keeps some width."""
    if any(len(cell_text(row[place])) > _SENTENCE for row in table.rows):
        return "long"
    return "short" if len(cell_text(cell)) <= _SHORT else ""


def _head_width(head: str) -> str:
    """Return the class of a column's head: what is longer than a word or two may break anywhere."""
    return "wide" if len(head) > _SHORT else ""


def _bar(cell: Cell) -> Markup:
    """Return a rate and its interval as a small picture; the text beside it says the same."""
    if not isinstance(cell, Rate) or cell.compact:
        return Markup("")
    if cell.value is None or cell.low is None or cell.high is None:
        return Markup("")
    low, high, at = (f"{4 + 92 * value:.2f}" for value in (cell.low, cell.high, cell.value))
    return Markup(
        '<svg class="bar" viewBox="0 0 100 10" aria-hidden="true" focusable="false">'
        '<path class="whole" d="M4 5H96"/><path class="interval" d="M{} 5H{}"/>'
        '<circle cx="{}" cy="5" r="3.2"/></svg>'
    ).format(low, high, at)


def _outcome(cell: Cell) -> str | None:
    """Return the class of a cell that says an outcome, None of any other."""
    return cell.lower() if isinstance(cell, str) and cell in OUTCOMES else None


def _line(text: str) -> str:
    """Return the class of a line of a difference."""
    if text.startswith(("+++", "---", "@@")):
        return "place"
    return {"+": "added", "-": "removed"}.get(text[:1], "same")
