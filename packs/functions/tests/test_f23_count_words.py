from frozenbench_candidate import load

count_words = load("solution.py").count_words


def test_empty_text():
    assert count_words("") == 0


def test_only_spaces():
    assert count_words("   ") == 0


def test_many_spaces():
    assert count_words(" two   words ") == 2


def test_single_letters():
    assert count_words("a b c d e") == 5
