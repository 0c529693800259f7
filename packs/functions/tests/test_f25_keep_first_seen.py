from frozenbench_candidate import load

keep_first_seen = load("solution.py").keep_first_seen


def test_empty_list():
    assert keep_first_seen([]) == []


def test_larger_number_first():
    assert keep_first_seen([9, 3, 9, 1, 3]) == [9, 3, 1]


def test_all_equal():
    assert keep_first_seen([0, 0, 0]) == [0]


def test_opposite_numbers():
    assert keep_first_seen([5, -5, 5]) == [5, -5]
