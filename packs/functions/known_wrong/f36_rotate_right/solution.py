def rotate_right(items, steps):
    return items[-steps:] + items[:-steps]
