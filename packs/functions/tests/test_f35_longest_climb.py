from frozenbench_candidate import load

longest_climb = load("solution.py").longest_climb


def test_empty_list():
    assert longest_climb([]) == 0


def test_equal_neighbours_break_it():
    assert longest_climb([1, 2, 2, 3]) == 2


def test_falling():
    assert longest_climb([5, 4, 3]) == 1


def test_climb_at_the_end():
    assert longest_climb([3, 1, 2, 3, 4]) == 4


def test_climb_is_the_whole_list():
    assert longest_climb([-2, 0, 1, 9]) == 4
