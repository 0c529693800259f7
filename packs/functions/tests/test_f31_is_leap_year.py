from solution import is_leap_year


def test_divisible_by_100():
    assert is_leap_year(1900) is False


def test_divisible_by_400():
    assert is_leap_year(2000) is True


def test_another_century():
    assert is_leap_year(2100) is False


def test_divisible_by_4():
    assert is_leap_year(1996) is True
