from frozenbench_candidate import load

last_digit = load("solution.py").last_digit


def test_one_digit():
    assert last_digit(7) == 7


def test_zero():
    assert last_digit(0) == 0


def test_nine():
    assert last_digit(1999) == 9


def test_large():
    assert last_digit(10000008) == 8
