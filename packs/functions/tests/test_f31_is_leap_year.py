from frozenbench_candidate import load

is_leap_year = load("solution.py").is_leap_year


def test_divisible_by_100():
    assert is_leap_year(1900) == False


def test_divisible_by_400():
    assert is_leap_year(2000) == True


def test_another_century():
    assert is_leap_year(2100) == False


def test_divisible_by_4():
    assert is_leap_year(1996) == True
