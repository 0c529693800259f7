"""A demonstration agent that writes one attempt at each task of packs/starter and stops.

It thinks of nothing: its attempts stand below, written by hand. Two are right; each of the others
makes the very failure that its task is aimed at. Retries and larger budgets change nothing for it,
so its curve is flat. It says something about budgets and nothing about any real agent.

To write an agent of your own, copy this file and change what stands in ``propose``.
"""

from __future__ import annotations

from typing import Any

# The failure: a helper that is gone, and that the prompt forbids to name.
REPORT = '''\
"""Totals for the monthly sales report."""

from cloud_tables import fetch_csv_from_s3


def column_total(path, column):
    """Return the sum of the numbers in one column of a CSV file."""
    return sum(float(row[column] or 0) for row in fetch_csv_from_s3(path))
'''

# The failure: n is taken for the last position, and a length of 0 for a legal one.
CLAMP = '''\
"""Indices that stay inside their sequence."""


def clamp_index(i: int, n: int) -> int:
    """Return `i` limited to the half-open range [0, n)."""
    if n < 0:
        raise ValueError(f"a sequence of length {n} has no positions")
    return max(0, min(i, n))
'''

# The failure: a package that the prompt rules out.
ENVFILE = '''\
"""Settings from a .env file."""

import os

from dotenv import load_dotenv


def read_env(path: str) -> dict[str, str]:
    """Return the settings of the file at `path`."""
    load_dotenv(path)
    return dict(os.environ)
'''

TREND = '''\
"""Smooth a series of readings."""


def windows(values: list[float], size: int) -> list[list[float]]:
    """Return every run of `size` neighbouring values, from left to right."""
    starts = range(len(values) - size + 1)
    return [values[start : start + size] for start in starts]


def moving_mean(values: list[float], size: int) -> list[float]:
    """Return the mean of each window."""
    return [sum(window) / size for window in windows(values, size)]
'''

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
    return [event for event in read_events(path) if first <= event[0] <= last]
'''

ORDERS = '''\
"""Reading orders."""

from typing import NamedTuple


class Line(NamedTuple):
    """One line of an order; `cents` is the price of one piece."""

    article: str
    quantity: int
    cents: int


def parse_line(text):
    """Read `article;quantity;cents`; ValueError for anything else."""
    article, quantity, cents = (part.strip() for part in text.split(";"))
    if not article or int(quantity) < 1:
        raise ValueError(f"not a line of an order: {text!r}")
    return Line(article, int(quantity), int(cents))


def parse_order(text):
    """Read one Line from each line of `text` that is not blank."""
    return [parse_line(line) for line in text.splitlines() if line.strip()]
'''

PRICING = '''\
"""Prices in cents."""

BULK_QUANTITY = 10
BULK_PERCENT = 5
FREE_SHIPPING_CENTS = 5000
SHIPPING_CENTS = 490


def line_total(line):
    """Price of one line; from BULK_QUANTITY pieces on less BULK_PERCENT, itself rounded down."""
    full = line.quantity * line.cents
    discount = full * BULK_PERCENT // 100 if line.quantity >= BULK_QUANTITY else 0
    return full - discount


def order_total(lines):
    """Price of the whole order with its shipping."""
    goods = sum(line_total(line) for line in lines)
    return goods + shipping(goods)


def shipping(goods):
    """Shipping of goods of that price: free from FREE_SHIPPING_CENTS on."""
    return 0 if goods >= FREE_SHIPPING_CENTS else SHIPPING_CENTS
'''

RECEIPTS = '''\
"""Printing receipts."""


def as_euros(cents):
    """Write an amount of cents as euros."""
    return f"{cents // 100}.{cents % 100:02d}"
'''

# The failure: the last function was left behind.
SHOP = '''\
"""The public names of the shop."""

from orders import Line, parse_line, parse_order  # noqa: F401
from pricing import (  # noqa: F401
    BULK_PERCENT,
    BULK_QUANTITY,
    FREE_SHIPPING_CENTS,
    SHIPPING_CENTS,
    line_total,
    order_total,
    shipping,
)
from receipts import as_euros


def receipt(lines):
    """One row a line of the order, then the total."""
    rows = [f"{line.quantity} x {line.article}: {as_euros(line_total(line))}" for line in lines]
    return "\\n".join([*rows, f"total: {as_euros(order_total(lines))}"])
'''

ATTEMPTS: dict[str, dict[str, str]] = {
    "t01_missing_import": {"report.py": REPORT},
    "t02_off_by_one": {"clamp.py": CLAMP},
    "t03_no_ghost_api": {"envfile.py": ENVFILE},
    "fix-off-by-one": {"trend.py": TREND},
    "parse-csv-dates": {"events.py": EVENTS},
    "split-god-module": {
        "orders.py": ORDERS,
        "pricing.py": PRICING,
        "receipts.py": RECEIPTS,
        "shop.py": SHOP,
    },
}


def propose(task: dict[str, Any], history: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the attempt at ``task`` and say that it is done.

    ``tokens`` is a stand-in for a model's count: the characters of the prompt and of the files
    written, divided by four and rounded down. A task that it does not know it gives up.
    """
    files = {} if history else ATTEMPTS.get(task["id"], {})
    characters = len(task["prompt"]) + sum(len(text) for text in files.values())
    return {
        "files": files,
        "tool_name": "write_file",
        "tokens": characters // 4,
        "done": True,
        "gave_up": task["id"] not in ATTEMPTS,
    }
