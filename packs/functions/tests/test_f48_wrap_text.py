from frozenbench_candidate import load

wrap_text = load("solution.py").wrap_text


def test_empty_text():
    assert wrap_text("", 8) == []


def test_width_of_one():
    assert wrap_text("a b c", 1) == ["a", "b", "c"]


def test_long_word():
    assert wrap_text("an extraordinary day", 6) == ["an", "extraordinary", "day"]


def test_extra_spaces():
    assert wrap_text("  to   be  or ", 5) == ["to be", "or"]


def test_line_exactly_full():
    assert wrap_text("aa bb cc", 5) == ["aa bb", "cc"]


def test_dash_is_no_break():
    assert wrap_text("a well-known trick", 7) == ["a", "well-known", "trick"]
