from solution import stretch


def test_empty_text():
    assert stretch("") == ""


def test_punctuation():
    assert stretch("go!") == "goo!!!"


def test_equal_characters():
    assert stretch("zzz") == "zzzzzz"


def test_space_inside():
    assert stretch("a b") == "a  bbb"
