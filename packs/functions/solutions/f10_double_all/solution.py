def double_all(numbers):
    return [number * 2 for number in numbers]
