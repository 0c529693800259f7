from frozenbench_candidate import load

is_longer = load("solution.py").is_longer


def test_shorter():
    assert is_longer("a", "bb") == False


def test_both_empty():
    assert is_longer("", "") == False


def test_second_empty():
    assert is_longer("x", "") == True


def test_shorter_but_later_in_the_alphabet():
    assert is_longer("zz", "aaa") == False


def test_longer_but_earlier_in_the_alphabet():
    assert is_longer("aaaa", "b") == True
