from frozenbench_candidate import load

multiples_up_to = load("solution.py").multiples_up_to


def test_limit_is_a_multiple():
    assert multiples_up_to(4, 8) == [4, 8]


def test_step_above_limit():
    assert multiples_up_to(7, 6) == []


def test_step_one():
    assert multiples_up_to(1, 5) == [1, 2, 3, 4, 5]


def test_step_equals_limit():
    assert multiples_up_to(2, 2) == [2]
