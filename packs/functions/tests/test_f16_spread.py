from frozenbench_candidate import load

spread = load("solution.py").spread


def test_opposite_signs():
    assert spread([-2, 7]) == 9


def test_all_equal():
    assert spread([1, 1, 1]) == 0


def test_four_numbers():
    assert spread([10, 2, 6, 4]) == 8


def test_all_negative():
    assert spread([-8, -3, -5]) == 5
