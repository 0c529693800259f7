"""Plain rows for every other harness: a table with a head, or JSON lines, one finished run a row.

Columns: `agent`, `task`, `solved` (true, false; empty or null: no grade), and as far as known
`repeat`, `calls`, `steps`, `edit_rounds`, `tokens`, `tokens_input`, `tokens_output`, `cost`,
`seconds`, `run`, `trial`, `ending`, `ran_out` (what the harness's own limit was: `calls`, `cost`,
…, or `unknown`), `error` (harness or grader broke). An unknown column is an error, since a use
that is misspelt would else be "not told". Each message says what is wrong where, and what is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, amount, decimal, mapping, whole
from frozenbench.importers.model import AXES, Part, Row, Unreadable, Use
from frozenbench.schema import nearest

#: Tables by their name: columns part at a comma, a semicolon or a tab.
TABLES = (".csv", ".tsv")
_COUNTS = ("calls", "steps", "edit_rounds", "tokens", "tokens_input", "tokens_output")
_AMOUNTS = ("cost", "seconds")
_WORDS = ("run", "trial", "ending", "ran_out", "error")
_NEEDED = ("agent", "task", "solved")
COLUMNS = (*_NEEDED, "repeat", *_COUNTS, *_AMOUNTS, *_WORDS)
_TRUTH = {"true": True, "1": True, "false": False, "0": False, "": None, "null": None}
_RAN_OUT = (*AXES, "context", "messages", "unknown")
_COMMA = re.compile(r"[+-]?\d[\d. ]*,\d+|[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def recognises(document: Document) -> bool:
    """Tell whether this has the columns above."""
    if document.suffix in TABLES:
        return set(_NEEDED) <= set(document.columns)
    head = document.head
    return document.suffix == ".jsonl" and set(_NEEDED) <= set(mapping(head))


def lacking(document: Document) -> str:
    """Return what a table or a line lacks to be plain rows, in words; empty for other files."""
    if document.suffix in TABLES:
        there: Iterable[str] = document.columns
    elif document.suffix == ".jsonl" and isinstance(document.head, Mapping):
        there = document.head
    else:
        return ""
    return ", ".join(name for name in _NEEDED if name not in there)


def read(document: Document) -> Part:
    """Read one file, line by line.

    Raises:
        Unreadable: a column is missing or unknown, or a value is not of its kind.
    """
    if document.suffix in TABLES:
        _check_columns(1, document.columns)
        rows = tuple(_row(document, number, line) for number, line in document.rows())
    elif document.suffix == ".jsonl":
        rows = tuple(_row(document, n, _line(n, value)) for n, value in document.lines())
    else:
        raise Unreadable("is no table (.csv, .tsv) and no JSON lines (.jsonl)")
    if not rows:
        raise Unreadable("holds no row below its head")
    return Part(rows=rows, stated={row.agent: {} for row in rows})


def _line(number: int, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Unreadable(f'line {number}: is no object; cure: {{"agent": …, "task": …}} a line')
    _check_columns(number, value)
    return value


def _check_columns(number: int, names: Iterable[str]) -> None:
    there = [name for name in names if name]
    for name in there:
        if name not in COLUMNS:
            told = f"{name}: unknown column{nearest(name, COLUMNS)}"
            raise Unreadable(f"line {number}: {told}; cure: rename it, or leave it out")
    for name in _NEEDED:
        if name not in there:
            raise Unreadable(f"line {number}: {name}: is missing; cure: a column of that name")


def _row(document: Document, number: int, line: Mapping[str, Any]) -> Row:
    if "" in line:
        told = f"{line['']!r} stands in a column without a name"
        raise Unreadable(f"line {number}: {told}; cure: leave it out (pandas: index=False)")
    agent, task = (_name(number, name, line[name]) for name in ("agent", "task"))
    words = {name: _text(line.get(name)) for name in _WORDS}
    if words["ran_out"] not in (None, *_RAN_OUT):
        told = f"{words['ran_out']!r} is none of {', '.join(_RAN_OUT)}"
        raise Unreadable(f"line {number}: ran_out: {told}; cure: unknown, or empty if nothing did")
    solved = _solved(number, line["solved"])
    use: dict[str, Any] = {name: _number(number, name, line.get(name), True) for name in _COUNTS}
    use |= {name: _number(number, name, line.get(name), False) for name in _AMOUNTS}
    repeat = _number(number, "repeat", line.get("repeat"), True)
    trial = words["trial"]
    if trial is None and repeat is not None:
        # The row says which repeat it is, so a second such row is no further one.
        trial = f"{words['run'] or document.name} repeat {repeat}"
    return Row(
        agent,
        task,
        solved,
        Use(**use),
        repeat=None if repeat is None else int(repeat),
        run=words["run"] or "",
        trial=trial,
        ending=words["ending"],
        ran_out=words["ran_out"],
        error=words["error"] or ("no_grade" if solved is None else None),
        file=document.name,
    )


def _name(number: int, column: str, value: Any) -> str:
    if isinstance(value, bool | list | Mapping):
        raise Unreadable(f"line {number}: {column}: {str(value)[:40]!r} is no name")
    name = "" if value is None else str(value).strip()
    if not name:
        raise Unreadable(f"line {number}: {column}: is empty; cure: a name in every row")
    if "\n" in name or "\r" in name:
        raise Unreadable(f"line {number}: {column}: {name!r} holds a line break; cure: one line")
    return name


def _text(value: Any) -> str | None:
    """Return a remark of the log in one line, None for none."""
    return " ".join(str(value).split()) or None if value is not None else None


def _solved(number: int, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text not in _TRUTH:
        cure = "cure: true or false, or empty where there is no grade"
        raise Unreadable(f"line {number}: solved: {value!r} is neither true nor false; {cure}")
    return _TRUTH[text]


def _number(number: int, name: str, value: Any, counted: bool) -> int | Decimal | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    exact = decimal(value) if isinstance(value, str) else value
    found = whole(exact) if counted else amount(exact)
    if found is None:
        kind = "a whole number of at least 0" if counted else "a number of at least 0"
        told = f"{str(value)!r} is not {kind}"
        comma = isinstance(value, str) and _COMMA.fullmatch(value.strip())
        cure = "cure: a point before the decimals and nothing between thousands: 1234.5"
        empty = "cure: empty where it is not told"
        raise Unreadable(f"line {number}: {name}: {told}; {cure if comma else empty}")
    return found
