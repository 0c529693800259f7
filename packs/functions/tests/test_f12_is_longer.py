from solution import is_longer


def test_shorter():
    assert is_longer("a", "bb") is False


def test_both_empty():
    assert is_longer("", "") is False


def test_second_empty():
    assert is_longer("x", "") is True


def test_shorter_but_later_in_the_alphabet():
    assert is_longer("zz", "aaa") is False


def test_longer_but_earlier_in_the_alphabet():
    assert is_longer("aaaa", "b") is True
