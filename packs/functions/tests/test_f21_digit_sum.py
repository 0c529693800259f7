from frozenbench_candidate import load

digit_sum = load("solution.py").digit_sum


def test_zero():
    assert digit_sum(0) == 0


def test_negative():
    assert digit_sum(-56) == 11


def test_all_nines():
    assert digit_sum(99999) == 45


def test_negative_hundred():
    assert digit_sum(-100) == 1
