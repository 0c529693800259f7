def longest_climb(numbers):
    best = 0
    length = 0
    for index, number in enumerate(numbers):
        length = length + 1 if index and number > numbers[index - 1] else 1
        best = max(best, length)
    return best
