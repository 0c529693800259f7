"""A demonstration agent that changes one operator a call and never says that it is done.

First call: it writes a draft. Drafts for packs/starter stand below, written by hand, each with one
or two slips of the kind that people and models make; for any other task the draft is the Python
files of the work folder as they are. Every further call takes the file with the most operators of
SWAPS as it stands and swaps the next of them, from the top of the file to its bottom and then from
the top again, where a second swap undoes the first.

It never tests anything, so it passes a right state like any other and mutates away from it. What a
cap leaves behind is right or wrong by where the walk happens to stand: the slips were chosen so
that budgets of 2, 4 and 8 calls differ. It shows what a budget can do to a ranking, no more.

To write an agent of your own, copy this file and change what stands in ``propose``.
"""

from __future__ import annotations

import io
import tokenize
from pathlib import Path
from typing import Any

# Python 3.12 and later also find operators inside f-strings; the drafts below have none there.
PAIRS = (("<", "<="), (">", ">="), ("==", "!="), ("and", "or"), ("+", "-"))
SWAPS = {old: new for a, b in PAIRS for old, new in ((a, b), (b, a))}

# The slip: != was meant.
REPORT = '''\
"""Totals for the monthly sales report."""

import csv


def column_total(path, column):
    """Return the sum of the numbers in one column of a CSV file."""
    with open(path, newline="", encoding="utf-8") as handle:
        reader = csv.DictReader(handle)
        if reader.fieldnames is None or column not in reader.fieldnames:
            raise KeyError(column)
        cells = [row[column] for row in reader]
    return sum(float(cell) for cell in cells if cell == "")
'''

# The slips: both ends of the range, n < 0 and i > n.
CLAMP = '''\
"""Indices that stay inside their sequence."""


def clamp_index(i: int, n: int) -> int:
    """Return `i` limited to the half-open range [0, n)."""
    if n < 0:
        raise ValueError(f"a sequence of length {n} has no positions")
    if i < 0:
        return 0
    if i > n:
        return n - 1
    return i
'''

# The slip: `or` was meant where blank lines and comments are skipped.
ENVFILE = r'''
"""Settings from a .env file."""

import re
from pathlib import Path

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
QUOTED = re.compile(r"""(["'])(.*)\1""")


def read_env(path: str) -> dict[str, str]:
    """Return the settings of the file at `path`."""
    settings = {}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        entry = line.strip()
        if not entry and entry.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or not NAME.fullmatch(name):
            raise ValueError(f"line {number} is not NAME=VALUE")
        quoted = QUOTED.fullmatch(value)
        settings[name] = quoted[2] if quoted else value
    return settings
'''.lstrip()

# The slip: the range is half-open, as ranges in Python are.
EVENTS = '''\
"""The club's calendar, kept in a CSV file."""

import csv
from datetime import date, datetime


def parse_day(text: str) -> date:
    """Return the day that `text` names: day first where there are slashes."""
    layout = "%d/%m/%Y" if "/" in text else "%Y-%m-%d"
    return datetime.strptime(text.strip(), layout).date()


def read_events(path: str) -> list[tuple[date, str]]:
    """Return (day, title) of every event in the file, earliest day first."""
    with open(path, newline="", encoding="utf-8") as handle:
        events = [(parse_day(row["date"]), row["title"]) for row in csv.DictReader(handle)]
    return sorted(events, key=lambda event: event[0])


def events_between(path: str, first: date, last: date) -> list[tuple[date, str]]:
    """Return the events from `first` to `last`, both days included."""
    return [event for event in read_events(path) if first <= event[0] < last]
'''

# The slip is in shipping: >= was meant.
ORDERS = """\
from typing import NamedTuple


class Line(NamedTuple):
    article: str
    quantity: int
    cents: int


def parse_line(text):
    article, quantity, cents = (part.strip() for part in text.split(";"))
    if not article or int(quantity) < 1:
        raise ValueError(f"not a line of an order: {text!r}")
    return Line(article, int(quantity), int(cents))


def parse_order(text):
    return [parse_line(line) for line in text.splitlines() if line.strip()]
"""
PRICING = """\
BULK_QUANTITY = 10
BULK_PERCENT = 5
FREE_SHIPPING_CENTS = 5000
SHIPPING_CENTS = 490


def line_total(line):
    full = line.quantity * line.cents
    if line.quantity >= BULK_QUANTITY:
        return full - full * BULK_PERCENT // 100
    return full


def order_total(lines):
    goods = sum(line_total(line) for line in lines)
    return goods + shipping(goods)


def shipping(goods):
    return 0 if goods > FREE_SHIPPING_CENTS else SHIPPING_CENTS
"""
RECEIPTS = """\
from pricing import line_total, order_total


def as_euros(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def receipt(lines):
    rows = [f"{line.quantity} x {line.article}: {as_euros(line_total(line))}" for line in lines]
    return "\\n".join([*rows, f"total: {as_euros(order_total(lines))}"])
"""
SHOP = """\
from orders import *
from pricing import *
from receipts import *
"""

DRAFTS: dict[str, dict[str, str]] = {
    "t01_missing_import": {"report.py": REPORT},
    "t02_off_by_one": {"clamp.py": CLAMP},
    "t03_no_ghost_api": {"envfile.py": ENVFILE},
    "parse-csv-dates": {"events.py": EVENTS},
    "split-god-module": {
        "orders.py": ORDERS,
        "pricing.py": PRICING,
        "receipts.py": RECEIPTS,
        "shop.py": SHOP,
    },
}


def operators(text: str) -> list[tokenize.TokenInfo]:
    """Return the operators of SWAPS in ``text``, from top to bottom; none if it is not Python."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError):
        return []
    kinds = (tokenize.OP, tokenize.NAME)
    return [token for token in tokens if token.type in kinds and token.string in SWAPS]


def swap(text: str, step: int) -> str:
    """Return ``text`` with operator number ``step`` swapped, counted round its operators."""
    found = operators(text)
    token = found[step % len(found)]
    row, column = token.start
    lines = io.StringIO(text).readlines()
    line = lines[row - 1]
    lines[row - 1] = line[:column] + SWAPS[token.string] + line[column + len(token.string) :]
    return "".join(lines)


def python_files(folder: Path) -> dict[str, str]:
    """Return the text of every Python file below ``folder`` by its path in it."""
    paths = sorted(folder.rglob("*.py"))
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def propose(task: dict[str, Any], history: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the draft of ``task`` at the first call, and one more mutation at each further call.

    ``tokens`` is a stand-in for a model's count: the characters of the prompt and of the files
    written, divided by four and rounded down. It gives up only where there is nothing to mutate.
    """
    if history:
        last = history[-1]["files"]
        path = max(sorted(last), key=lambda name: len(operators(last[name])))
        files = {path: swap(last[path], len(history) - 1)}
    else:
        files = DRAFTS.get(task["id"]) or python_files(Path(task["workdir"]))
    stuck = not any(operators(text) for text in files.values())
    characters = len(task["prompt"]) + sum(len(text) for text in files.values())
    return {
        "files": files,
        "tool_name": "edit_file" if history else "write_file",
        "tokens": characters // 4,
        "done": stuck,
        "gave_up": stuck,
    }
