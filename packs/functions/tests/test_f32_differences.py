from frozenbench_candidate import load

differences = load("solution.py").differences


def test_empty_list():
    assert differences([]) == []


def test_one_number():
    assert differences([7]) == []


def test_step_down():
    assert differences([5, 2]) == [-3]


def test_up_and_down():
    assert differences([0, 1, -1, 3]) == [1, -2, 4]
