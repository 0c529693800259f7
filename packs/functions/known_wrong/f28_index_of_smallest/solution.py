def index_of_smallest(numbers):
    best = 0
    for index in range(len(numbers)):
        if numbers[index] <= numbers[best]:
            best = index
    return best
