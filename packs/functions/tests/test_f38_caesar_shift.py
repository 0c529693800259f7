from frozenbench_candidate import load

caesar_shift = load("solution.py").caesar_shift


def test_wraps_around():
    assert caesar_shift("xyz", 3) == "abc"


def test_capital_wraps_around():
    assert caesar_shift("Zoo", 1) == "App"


def test_more_than_26():
    assert caesar_shift("abc", 29) == "def"


def test_negative_shift():
    assert caesar_shift("ba c", -1) == "az b"


def test_empty_text():
    assert caesar_shift("", 5) == ""
