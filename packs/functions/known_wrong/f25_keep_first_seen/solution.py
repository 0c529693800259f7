def keep_first_seen(numbers):
    return sorted(set(numbers))
