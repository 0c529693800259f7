from frozenbench_candidate import load

shout = load("solution.py").shout


def test_empty_text():
    assert shout("") == "!"


def test_two_words():
    assert shout("go now") == "GO NOW!"


def test_already_ends_with_mark():
    assert shout("hey!") == "HEY!!"


def test_digit_in_text():
    assert shout("Room 7b") == "ROOM 7B!"
