def longest_climb(numbers):
    if not numbers:
        return 0
    best = 1
    length = 1
    for i in range(1, len(numbers)):
        if numbers[i] > numbers[i - 1]:
            length += 1
        else:
            best = max(best, length)
            length = 1
    return best
