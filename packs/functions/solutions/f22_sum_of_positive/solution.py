def sum_of_positive(numbers):
    return sum(number for number in numbers if number > 0)
