from solution import is_even


def test_zero():
    assert is_even(0) is True


def test_negative_odd():
    assert is_even(-3) is False


def test_negative_even():
    assert is_even(-8) is True


def test_large_odd():
    assert is_even(101) is False
