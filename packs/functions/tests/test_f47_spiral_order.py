from frozenbench_candidate import load

spiral_order = load("solution.py").spiral_order


def test_empty_list():
    assert spiral_order([]) == []


def test_one_column():
    assert spiral_order([[1], [2], [3]]) == [1, 2, 3]


def test_three_by_three():
    assert spiral_order([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == [1, 2, 3, 6, 9, 8, 7, 4, 5]


def test_two_by_three():
    assert spiral_order([[1, 2, 3], [4, 5, 6]]) == [1, 2, 3, 6, 5, 4]


def test_three_by_four():
    assert spiral_order([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]) == [1, 2, 3, 4, 8, 12, 11, 10, 9, 5, 6, 7]
