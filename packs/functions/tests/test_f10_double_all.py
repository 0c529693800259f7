from frozenbench_candidate import load

double_all = load("solution.py").double_all


def test_empty_list():
    assert double_all([]) == []


def test_negative_number():
    assert double_all([-4, 5]) == [-8, 10]


def test_equal_numbers():
    assert double_all([10, 10]) == [20, 20]


def test_keeps_the_order():
    assert double_all([7, 1, 3, 2]) == [14, 2, 6, 4]
