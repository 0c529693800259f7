def absolute_difference(a, b):
    return b - a
