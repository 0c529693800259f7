from solution import reads_same_backwards


def test_empty_text():
    assert reads_same_backwards("") is True


def test_capital_and_spaces():
    assert reads_same_backwards("Too hot to hoot") is True


def test_comma_counts():
    assert reads_same_backwards("a,b a") is False


def test_comma_in_the_middle():
    assert reads_same_backwards("ab , ba") is True


def test_almost():
    assert reads_same_backwards("abca") is False
