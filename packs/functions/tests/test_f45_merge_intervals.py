from frozenbench_candidate import load

merge_intervals = load("solution.py").merge_intervals


def test_empty_list():
    assert merge_intervals([]) == []


def test_not_sorted():
    assert merge_intervals([[5, 7], [1, 2]]) == [[1, 2], [5, 7]]


def test_common_end_point():
    assert merge_intervals([[1, 4], [4, 6]]) == [[1, 6]]


def test_one_inside_another():
    assert merge_intervals([[1, 10], [2, 3], [9, 12]]) == [[1, 12]]


def test_side_by_side():
    assert merge_intervals([[4, 6], [7, 9]]) == [[4, 6], [7, 9]]
