from frozenbench_candidate import load

larger_of = load("solution.py").larger_of


def test_larger_first():
    assert larger_of(8, 3) == 8


def test_both_negative():
    assert larger_of(-5, -6) == -5


def test_zero_and_negative():
    assert larger_of(-1, 0) == 0


def test_close_together():
    assert larger_of(100, 99) == 100
