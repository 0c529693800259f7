from frozenbench_candidate import load

reverse_text = load("solution.py").reverse_text


def test_empty_text():
    assert reverse_text("") == ""


def test_long_word():
    assert reverse_text("stressed") == "desserts"


def test_space_inside():
    assert reverse_text("ab cd") == "dc ba"


def test_keeps_case():
    assert reverse_text("Noon1") == "1nooN"
