"""The printed receipt."""

from pricing import line_total, order_total


def as_euros(cents):
    """Write an amount of cents as euros."""
    return f"{cents // 100}.{cents % 100:02d}"


def receipt(lines):
    """One row a line of the order, then the total."""
    rows = [f"{line.quantity} x {line.article}: {as_euros(line_total(line))}" for line in lines]
    return "\n".join([*rows, f"total: {as_euros(order_total(lines))}"])
