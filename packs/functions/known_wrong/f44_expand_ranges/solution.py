def expand_ranges(text):
    numbers = []
    for part in text.split(","):
        numbers.extend(range(int(part[0]), int(part[-1]) + 1))
    return numbers
