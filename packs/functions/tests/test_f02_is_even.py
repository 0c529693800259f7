from frozenbench_candidate import load

is_even = load("solution.py").is_even


def test_zero():
    assert is_even(0) == True


def test_negative_odd():
    assert is_even(-3) == False


def test_negative_even():
    assert is_even(-8) == True


def test_large_odd():
    assert is_even(101) == False
