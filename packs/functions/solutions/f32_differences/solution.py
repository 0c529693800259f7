def differences(numbers):
    return [after - before for before, after in zip(numbers, numbers[1:])]
