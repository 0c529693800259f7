from frozenbench_candidate import load

triangle_kind = load("solution.py").triangle_kind


def test_first_two_equal():
    assert triangle_kind(5, 5, 8) == "isosceles"


def test_last_two_equal():
    assert triangle_kind(8, 5, 5) == "isosceles"


def test_first_and_last_equal():
    assert triangle_kind(5, 8, 5) == "isosceles"


def test_all_different():
    assert triangle_kind(7, 6, 8) == "scalene"


def test_all_equal():
    assert triangle_kind(10, 10, 10) == "equilateral"
