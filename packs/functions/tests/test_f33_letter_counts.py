from frozenbench_candidate import load

letter_counts = load("solution.py").letter_counts


def test_empty_text():
    assert letter_counts("") == {}


def test_punctuation():
    assert letter_counts("No, no!") == {"n": 2, "o": 2}


def test_digits_and_space():
    assert letter_counts("x1 X2") == {"x": 2}


def test_no_letters():
    assert letter_counts("123") == {}
