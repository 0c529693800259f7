from frozenbench_candidate import load

flatten = load("solution.py").flatten


def test_empty_list():
    assert flatten([]) == []


def test_only_empty_lists():
    assert flatten([[], [[]]]) == []


def test_four_levels():
    assert flatten([1, [2, [3, [4]]], 5]) == [1, 2, 3, 4, 5]


def test_deep_first_item():
    assert flatten([[[7]], 8]) == [7, 8]
