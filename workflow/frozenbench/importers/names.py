"""Names as logs have them, written so that they can be shown: in a terminal, a table, a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from frozenbench.importers.model import Part, Published, Remark, Row, Verdict
from frozenbench.source_files import printable

_Named = TypeVar("_Named", Row, Published, Verdict, Remark)
#: The texts of each of them.
_TEXTS: Mapping[type, tuple[str, ...]] = {
    Row: ("agent", "task", "label", "run", "trial", "ending", "ran_out", "error", "file"),
    Published: ("agent", "run"),
    Verdict: ("task", "agent", "folder"),
    Remark: ("subject",),
}


def shown(part: Part) -> Part:
    """Return what a file gave with escapes for all that cannot be shown; say so of names."""
    names = {row.agent for row in part.rows} | {row.task for row in part.rows}
    odd = sorted(printable(name) for name in names if not name.isprintable())
    return replace(
        part,
        rows=tuple(map(_shown, part.rows)),
        published=tuple(map(_shown, part.published)),
        verdicts=tuple(map(_shown, part.verdicts)),
        stated={printable(agent): _texts(held) for agent, held in part.stated.items()},
        limits={printable(agent): held for agent, held in part.limits.items()},
        expected=tuple((printable(agent), printable(task)) for agent, task in part.expected),
        remarks=(*map(_shown, part.remarks), *(Remark("odd_name", name) for name in odd)),
        facts={printable(agent): _texts(held) for agent, held in part.facts.items()},
    )


def _shown(named: _Named) -> _Named:
    odd: dict[str, Any] = {
        key: printable(text)
        for key in _TEXTS[type(named)]
        if (text := getattr(named, key)) is not None and not text.isprintable()
    }
    return replace(named, **odd) if odd else named


def _texts(held: Mapping[str, str]) -> dict[str, str]:
    return {printable(key): printable(text) for key, text in held.items()}


def short(name: str, most: int) -> str:
    """Return a name in at most so many letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
