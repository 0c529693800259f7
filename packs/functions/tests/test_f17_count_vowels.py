from frozenbench_candidate import load

count_vowels = load("solution.py").count_vowels


def test_empty_text():
    assert count_vowels("") == 0


def test_y_is_no_vowel():
    assert count_vowels("rhythm") == 0


def test_capital_letters():
    assert count_vowels("AUDIO") == 4


def test_mixed_case_and_space():
    assert count_vowels("Open up") == 3
