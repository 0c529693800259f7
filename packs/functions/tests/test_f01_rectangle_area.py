from frozenbench_candidate import load

rectangle_area = load("solution.py").rectangle_area


def test_square():
    assert rectangle_area(5, 5) == 25


def test_zero_width():
    assert rectangle_area(0, 9) == 0


def test_two_digits():
    assert rectangle_area(12, 11) == 132


def test_long_side():
    assert rectangle_area(250, 4) == 1000
