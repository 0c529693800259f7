from frozenbench_candidate import load

last_item = load("solution.py").last_item


def test_two_numbers():
    assert last_item([9, 8]) == 8


def test_words():
    assert last_item(["x", "z", "y"]) == "y"


def test_last_is_zero():
    assert last_item([5, 5, 0]) == 0


def test_list_inside():
    assert last_item([[1], [2]]) == [2]
