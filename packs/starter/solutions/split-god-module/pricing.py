"""Prices of lines, of shipping and of whole orders, in cents."""

BULK_QUANTITY = 10
BULK_PERCENT = 5
FREE_SHIPPING_CENTS = 5000
SHIPPING_CENTS = 490


def line_total(line):
    """Price of one line; from BULK_QUANTITY pieces on less BULK_PERCENT, itself rounded down."""
    full = line.quantity * line.cents
    if line.quantity >= BULK_QUANTITY:
        return full - full * BULK_PERCENT // 100
    return full


def order_total(lines):
    """Price of the whole order with its shipping."""
    goods = sum(line_total(line) for line in lines)
    return goods + shipping(goods)


def shipping(goods):
    """Shipping of goods of that price: free from FREE_SHIPPING_CENTS on."""
    if goods >= FREE_SHIPPING_CENTS:
        return 0
    return SHIPPING_CENTS
