from frozenbench_candidate import load

turn_clockwise = load("solution.py").turn_clockwise


def test_one_row():
    assert turn_clockwise([[1, 2, 3]]) == [[1], [2], [3]]


def test_one_column():
    assert turn_clockwise([[1], [2], [3]]) == [[3, 2, 1]]


def test_two_by_three():
    assert turn_clockwise([[1, 2, 3], [4, 5, 6]]) == [[4, 1], [5, 2], [6, 3]]


def test_three_by_three():
    assert turn_clockwise([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == [[7, 4, 1], [8, 5, 2], [9, 6, 3]]
