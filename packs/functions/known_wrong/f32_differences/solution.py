def differences(numbers):
    return [abs(numbers[i + 1] - numbers[i]) for i in range(len(numbers) - 1)]
