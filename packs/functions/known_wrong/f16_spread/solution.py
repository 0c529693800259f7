def spread(numbers):
    low = numbers[0]
    high = 0
    for number in numbers:
        if number < low:
            low = number
        if number > high:
            high = number
    return high - low
