"""Orders: what a line holds and how it is read."""

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
