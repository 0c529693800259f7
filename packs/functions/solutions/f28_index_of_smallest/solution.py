def index_of_smallest(numbers):
    if not numbers:
        return -1
    return numbers.index(min(numbers))
