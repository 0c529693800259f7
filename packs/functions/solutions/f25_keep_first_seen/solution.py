def keep_first_seen(numbers):
    return list(dict.fromkeys(numbers))
