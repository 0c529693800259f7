from frozenbench_candidate import load

index_of_smallest = load("solution.py").index_of_smallest


def test_empty_list():
    assert index_of_smallest([]) == -1


def test_smallest_twice():
    assert index_of_smallest([3, 1, 1]) == 1


def test_negative_number():
    assert index_of_smallest([-1, -9, 0]) == 1


def test_smallest_last():
    assert index_of_smallest([8, 6, 4, 2]) == 3
