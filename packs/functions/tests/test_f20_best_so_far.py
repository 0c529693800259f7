from frozenbench_candidate import load

best_so_far = load("solution.py").best_so_far


def test_empty_list():
    assert best_so_far([]) == []


def test_all_negative():
    assert best_so_far([-3, -5, -1]) == [-3, -3, -1]


def test_falling():
    assert best_so_far([4, 3, 2, 1]) == [4, 4, 4, 4]


def test_repeated_scores():
    assert best_so_far([1, 2, 2, 6, 0]) == [1, 2, 2, 6, 6]
