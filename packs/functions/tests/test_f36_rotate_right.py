from frozenbench_candidate import load

rotate_right = load("solution.py").rotate_right


def test_empty_list():
    assert rotate_right([], 3) == []


def test_more_steps_than_items():
    assert rotate_right([1, 2, 3], 5) == [2, 3, 1]


def test_as_many_steps_as_items():
    assert rotate_right([6, 7, 8], 3) == [6, 7, 8]


def test_two_steps():
    assert rotate_right(["x", "y", "z"], 2) == ["y", "z", "x"]


def test_one_item():
    assert rotate_right([7], 10) == [7]
