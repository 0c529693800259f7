from frozenbench_candidate import load

total_price = load("solution.py").total_price


def test_count_is_zero():
    assert total_price(4, 0, 6) == 6


def test_many_items():
    assert total_price(2, 8, 1) == 17


def test_free_items():
    assert total_price(0, 5, 9) == 9


def test_all_different():
    assert total_price(7, 3, 2) == 23
