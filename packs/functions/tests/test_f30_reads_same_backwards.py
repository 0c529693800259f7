from frozenbench_candidate import load

reads_same_backwards = load("solution.py").reads_same_backwards


def test_empty_text():
    assert reads_same_backwards("") == True


def test_capital_and_spaces():
    assert reads_same_backwards("Too hot to hoot") == True


def test_comma_counts():
    assert reads_same_backwards("a,b a") == False


def test_comma_in_the_middle():
    assert reads_same_backwards("ab , ba") == True


def test_almost():
    assert reads_same_backwards("abca") == False
