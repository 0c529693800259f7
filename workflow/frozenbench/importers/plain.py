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
_WORDS = ("run", "trial", "ending", "ran_out")
_NEEDED = ("agent", "task", "solved")
COLUMNS = (*_NEEDED, "repeat", *_COUNTS, *_AMOUNTS, *_WORDS, "error")
_TRUTH = {"true": True, "1": True, "false": False, "0": False, "": None, "null": None}
#: `error` may be a flag or the error's text: what says that there was none, and a bare flag.
_NO_ERROR = ("", "-", "f", "false", "n", "n/a", "na", "nan", "no", "none", "null", "off")
_AN_ERROR = ("on", "t", "true", "y", "yes")
#: What a bare flag says.
BROKEN = "harness_or_grader_broken"
_RAN_OUT = (*AXES, "context", "messages", "unknown")
#: Digits with a comma or something else between them, or of another script: refused, not guessed.
_PARTED = re.compile(r"[+-]?\d[\d.,_'’\s]*")
_ENGLISH = re.compile(r"[+-]?[0-9.]+")


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
    label, error = _repeat(number, line.get("repeat")), _error(line.get("error"))
    trial = words["trial"]
    if trial is None and label is not None:
        # The row says which repeat it is, so a second such row is no further one.
        trial = f"{words['run'] or document.name} repeat {label}"
    return Row(
        agent,
        task,
        solved,
        Use(**use),
        label=label,
        run=words["run"] or "",
        trial=trial,
        ending=words["ending"],
        ran_out=words["ran_out"],
        error=error or ("no_grade" if solved is None else None),
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


def _error(value: Any) -> str | None:
    """Return why harness or grader broke; None: they did not."""
    text = "" if value == [] or value == {} else _text(value) or ""
    word, number = text.casefold(), decimal(text)
    if word in _NO_ERROR or number == 0:
        return None
    return BROKEN if word in _AN_ERROR or number == 1 else text


def _repeat(number: int, value: Any) -> str | None:
    """Return what the row calls its repeat, which may count from anything; None: it does not tell."""
    if isinstance(value, bool | list | Mapping):
        told = f"{str(value)[:40]!r} is no repeat; cure: a number or a name"
        raise Unreadable(f"line {number}: repeat: {told}")
    text = _text(value)
    exact = decimal(text) if text is not None else None
    count = whole(exact)
    return text if count is None else str(count)


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
        text = str(value).strip()
        parted = _PARTED.fullmatch(text) and not _ENGLISH.fullmatch(text)
        cure = "cure: digits 0 to 9, a point before the decimals, nothing between thousands: 1234.5"
        empty = "cure: empty where it is not told"
        raise Unreadable(f"line {number}: {name}: {told}; {cure if parted else empty}")
    return found
