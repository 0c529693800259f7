"""Plain rows for every other harness: CSV with a head, or JSON lines, one finished run a row.

Columns: `agent`, `task`, `solved` (true, false; empty or null: no grade), and as far as known
`repeat`, `calls`, `steps`, `edit_rounds`, `tokens`, `tokens_input`, `tokens_output`, `cost`,
`seconds`, `run`, `trial`, `ending`, `ran_out` (what the harness's own limit was: `calls`, `cost`,
…, or `unknown`), `error` (harness or grader broke). An unknown column is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, amount, decimal, mapping, whole
from frozenbench.importers.model import AXES, Part, Row, Unreadable, Use

_COUNTS = ("calls", "steps", "edit_rounds", "tokens", "tokens_input", "tokens_output")
_AMOUNTS = ("cost", "seconds")
_WORDS = ("run", "trial", "ending", "ran_out", "error")
_NEEDED = ("agent", "task", "solved")
COLUMNS = (*_NEEDED, "repeat", *_COUNTS, *_AMOUNTS, *_WORDS)
_TRUTH = {"true": True, "1": True, "false": False, "0": False, "": None, "null": None}
_RAN_OUT = (*AXES, "context", "messages", "unknown")


def recognises(document: Document) -> bool:
    """Tell whether this has the columns above."""
    if document.suffix == ".csv":
        return set(_NEEDED) <= set(next((row for _, row in document.rows()), {}))
    head = document.head
    return document.suffix == ".jsonl" and set(_NEEDED) <= set(mapping(head))


def read(document: Document) -> Part:
    """Read one file, line by line.

    Raises:
        Unreadable: a column is missing or unknown, or a value is not of its kind.
    """
    lines = document.rows() if document.suffix == ".csv" else document.lines()
    rows = tuple(_row(document, number, mapping(value)) for number, value in lines)
    if not rows:
        raise Unreadable("holds no row")
    return Part(rows=rows, stated={row.agent: {} for row in rows})


def _row(document: Document, number: int, line: Mapping[str, Any]) -> Row:
    for name in _NEEDED:
        if name not in line:
            raise Unreadable(f"line {number}: {name}: is missing")
    for name in line:
        if name not in COLUMNS:
            raise Unreadable(f"line {number}: {name}: unknown column; known: {', '.join(COLUMNS)}")
    for name in ("agent", "task"):
        if not str(line[name] or ""):
            raise Unreadable(f"line {number}: {name}: is empty")
    words = {name: str(line.get(name) or "") or None for name in _WORDS}
    if words["ran_out"] not in (None, *_RAN_OUT):
        raise Unreadable(f"line {number}: ran_out: is none of {', '.join(_RAN_OUT)}")
    solved = _solved(number, line["solved"])
    use: dict[str, Any] = {name: _number(number, name, line.get(name), True) for name in _COUNTS}
    use |= {name: _number(number, name, line.get(name), False) for name in _AMOUNTS}
    repeat = _number(number, "repeat", line.get("repeat"), True)
    return Row(
        str(line["agent"]),
        str(line["task"]),
        solved,
        Use(**use),
        repeat=None if repeat is None else int(repeat),
        run=words["run"] or "",
        trial=words["trial"],
        ending=words["ending"],
        ran_out=words["ran_out"],
        error=words["error"] or ("no_grade" if solved is None else None),
        file=document.name,
    )


def _solved(number: int, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text not in _TRUTH:
        raise Unreadable(f"line {number}: solved: {value!r} is neither true nor false")
    return _TRUTH[text]


def _number(number: int, name: str, value: Any, counted: bool) -> int | Decimal | None:
    if value is None or value == "":
        return None
    exact = decimal(value) if isinstance(value, str) else value
    found = whole(exact) if counted else amount(exact)
    if found is None:
        kind = "a whole number of at least 0" if counted else "a number of at least 0"
        raise Unreadable(f"line {number}: {name}: {str(value)!r} is not {kind}")
    return found
