"""Prices of lines, of shipping and of whole orders, in cents."""

from shop import line_total, order_total, shipping

__all__ = ["line_total", "order_total", "shipping"]
