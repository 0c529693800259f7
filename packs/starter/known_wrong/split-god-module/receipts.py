"""The printed receipt."""

from shop import as_euros, receipt

__all__ = ["as_euros", "receipt"]
