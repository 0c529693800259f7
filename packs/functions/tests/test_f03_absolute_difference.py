from frozenbench_candidate import load

absolute_difference = load("solution.py").absolute_difference


def test_larger_first():
    assert absolute_difference(20, 8) == 12


def test_opposite_signs():
    assert absolute_difference(-4, 6) == 10


def test_both_negative():
    assert absolute_difference(-2, -9) == 7


def test_zero_and_negative():
    assert absolute_difference(0, -1) == 1
