def expand_ranges(text):
    numbers = []
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers
