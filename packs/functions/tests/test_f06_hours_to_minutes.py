from frozenbench_candidate import load

hours_to_minutes = load("solution.py").hours_to_minutes


def test_zero():
    assert hours_to_minutes(0) == 0


def test_two():
    assert hours_to_minutes(2) == 120


def test_one_day():
    assert hours_to_minutes(24) == 1440


def test_hundred():
    assert hours_to_minutes(100) == 6000
