"""Orders: what a line holds and how it is read."""

from shop import Line, parse_line, parse_order

__all__ = ["Line", "parse_line", "parse_order"]
