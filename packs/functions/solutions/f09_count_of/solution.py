def count_of(items, value):
    return items.count(value)
