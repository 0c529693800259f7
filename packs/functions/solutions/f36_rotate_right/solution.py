def rotate_right(items, steps):
    if not items:
        return []
    cut = len(items) - steps % len(items)
    return items[cut:] + items[:cut]
