from frozenbench_candidate import load

initials = load("solution.py").initials


def test_one_small_word():
    assert initials("tim") == "T"


def test_mixed_case():
    assert initials("Xena york") == "XY"


def test_three_words():
    assert initials("Mary Ann Lee") == "MAL"


def test_four_words():
    assert initials("jean de la tour") == "JDLT"
