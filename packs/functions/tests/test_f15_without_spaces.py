from frozenbench_candidate import load

without_spaces = load("solution.py").without_spaces


def test_empty_text():
    assert without_spaces("") == ""


def test_spaces_at_both_ends():
    assert without_spaces("  left and right  ") == "leftandright"


def test_two_spaces_in_a_row():
    assert without_spaces("two  gaps   here") == "twogapshere"


def test_only_spaces():
    assert without_spaces("   ") == ""


def test_keeps_dash():
    assert without_spaces("no-space at all") == "no-spaceatall"
