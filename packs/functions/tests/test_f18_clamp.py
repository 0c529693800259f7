from frozenbench_candidate import load

clamp = load("solution.py").clamp


def test_below():
    assert clamp(-3, 0, 10) == 0


def test_at_the_upper_end():
    assert clamp(10, 0, 10) == 10


def test_below_a_negative_range():
    assert clamp(-7, -5, -1) == -5


def test_above_a_negative_range():
    assert clamp(0, -5, -1) == -1


def test_range_of_one():
    assert clamp(2, 6, 6) == 6
