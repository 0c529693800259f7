from frozenbench_candidate import load

balanced = load("solution.py").balanced


def test_crossing_pairs():
    assert balanced("([)]") == False


def test_empty_text():
    assert balanced("") == True


def test_never_closed():
    assert balanced("((") == False


def test_closed_before_opened():
    assert balanced(")(") == False


def test_three_kinds():
    assert balanced("{x: [1, (2)]}") == True


def test_no_brackets():
    assert balanced("plain words") == True
