from frozenbench_candidate import load

clap_word = load("solution.py").clap_word


def test_divisible_by_5():
    assert clap_word(10) == "stomp"


def test_divisible_by_both():
    assert clap_word(30) == "clapstomp"


def test_one():
    assert clap_word(1) == "1"


def test_odd_and_divisible_by_both():
    assert clap_word(45) == "clapstomp"


def test_two_digits_as_text():
    assert clap_word(22) == "22"
