def roman_numeral(n):
    symbols = [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")]
    result = ""
    for value, symbol in symbols:
        result += symbol * (n // value)
        n %= value
    return result
