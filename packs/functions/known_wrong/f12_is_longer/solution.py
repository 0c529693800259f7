def is_longer(first, second):
    return first > second
