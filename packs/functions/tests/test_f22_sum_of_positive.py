from frozenbench_candidate import load

sum_of_positive = load("solution.py").sum_of_positive


def test_empty_list():
    assert sum_of_positive([]) == 0


def test_zeros():
    assert sum_of_positive([0, 0, 7]) == 7


def test_one_large_negative():
    assert sum_of_positive([10, 20, -30]) == 30


def test_negative_first():
    assert sum_of_positive([-1, -2, -3, 4]) == 4
