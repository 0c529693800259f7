from frozenbench_candidate import load

run_length = load("solution.py").run_length


def test_empty_text():
    assert run_length("") == ""


def test_same_character_in_two_runs():
    assert run_length("aabbaa") == "a2b2a2"


def test_length_of_two_digits():
    assert run_length("zzzzzzzzzzzz") == "z12"


def test_small_and_capital_letter():
    assert run_length("aA") == "a1A1"


def test_run_of_spaces():
    assert run_length("AAb  ") == "A2b1 2"
