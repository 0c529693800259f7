def total_price(price, count, shipping):
    return price * count + shipping
