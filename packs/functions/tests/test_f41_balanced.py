from solution import balanced


def test_crossing_pairs():
    assert balanced("([)]") is False


def test_empty_text():
    assert balanced("") is True


def test_never_closed():
    assert balanced("((") is False


def test_closed_before_opened():
    assert balanced(")(") is False


def test_three_kinds():
    assert balanced("{x: [1, (2)]}") is True


def test_no_brackets():
    assert balanced("plain words") is True
