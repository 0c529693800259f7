from frozenbench_candidate import load

evaluate_postfix = load("solution.py").evaluate_postfix


def test_single_number():
    assert evaluate_postfix("7") == 7


def test_older_value_is_left():
    assert evaluate_postfix("9 4 -") == 5


def test_two_sums():
    assert evaluate_postfix("1 2 + 3 4 + *") == 21


def test_minus_after_times():
    assert evaluate_postfix("10 2 3 * -") == 4


def test_negative_number():
    assert evaluate_postfix("-5 2 *") == -10
