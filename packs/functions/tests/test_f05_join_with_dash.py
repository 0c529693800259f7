from frozenbench_candidate import load

join_with_dash = load("solution.py").join_with_dash


def test_empty_list():
    assert join_with_dash([]) == ""


def test_two_words():
    assert join_with_dash(["red", "green"]) == "red-green"


def test_digits():
    assert join_with_dash(["2024", "01", "31"]) == "2024-01-31"


def test_four_words():
    assert join_with_dash(["up", "to", "date", "now"]) == "up-to-date-now"
