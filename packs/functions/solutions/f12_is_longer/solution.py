def is_longer(first, second):
    return len(first) > len(second)
