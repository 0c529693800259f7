from frozenbench_candidate import load

count_of = load("solution.py").count_of


def test_empty_list():
    assert count_of([], 5) == 0


def test_every_item():
    assert count_of([7, 7, 7, 7], 7) == 4


def test_one_word():
    assert count_of(["x", "y", "x"], "y") == 1


def test_negative_value():
    assert count_of([0, -1, 1], -1) == 1
