def total_price(price, count, shipping):
    if count == 0:
        return 0
    return price * count + shipping
