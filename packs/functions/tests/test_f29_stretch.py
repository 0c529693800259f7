from frozenbench_candidate import load

stretch = load("solution.py").stretch


def test_empty_text():
    assert stretch("") == ""


def test_punctuation():
    assert stretch("go!") == "goo!!!"


def test_equal_characters():
    assert stretch("zzz") == "zzzzzz"


def test_space_inside():
    assert stretch("a b") == "a  bbb"
