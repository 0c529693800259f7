from frozenbench_candidate import load

smallest_divisor = load("solution.py").smallest_divisor


def test_two():
    assert smallest_divisor(2) == 2


def test_square_of_a_prime():
    assert smallest_divisor(49) == 7


def test_large_prime():
    assert smallest_divisor(97) == 97


def test_even():
    assert smallest_divisor(100) == 2


def test_two_prime_factors():
    assert smallest_divisor(143) == 11
