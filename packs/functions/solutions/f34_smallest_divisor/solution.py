def smallest_divisor(n):
    for divisor in range(2, n):
        if n % divisor == 0:
            return divisor
    return n
