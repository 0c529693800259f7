def larger_of(a, b):
    return max(a, b)
