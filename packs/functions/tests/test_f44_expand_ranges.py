from frozenbench_candidate import load

expand_ranges = load("solution.py").expand_ranges


def test_empty_text():
    assert expand_ranges("") == []


def test_range_of_one():
    assert expand_ranges("4-4") == [4]


def test_keeps_the_order():
    assert expand_ranges("9-11,2") == [9, 10, 11, 2]


def test_two_ranges():
    assert expand_ranges("0,1-2,8-9") == [0, 1, 2, 8, 9]


def test_more_digits():
    assert expand_ranges("98-101") == [98, 99, 100, 101]
