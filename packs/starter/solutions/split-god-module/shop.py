"""The public names of the shop; the work is done in orders, pricing and receipts."""

from orders import Line, parse_line, parse_order
from pricing import (
    BULK_PERCENT,
    BULK_QUANTITY,
    FREE_SHIPPING_CENTS,
    SHIPPING_CENTS,
    line_total,
    order_total,
    shipping,
)
from receipts import as_euros, receipt

__all__ = [
    "BULK_PERCENT",
    "BULK_QUANTITY",
    "FREE_SHIPPING_CENTS",
    "SHIPPING_CENTS",
    "Line",
    "as_euros",
    "line_total",
    "order_total",
    "parse_line",
    "parse_order",
    "receipt",
    "shipping",
]
