from frozenbench_candidate import load

compare_versions = load("solution.py").compare_versions


def test_missing_number_is_zero():
    assert compare_versions("1.0", "1") == 0


def test_higher_first_number():
    assert compare_versions("3", "2.9.9") == 1


def test_third_number_decides():
    assert compare_versions("1.2.3", "1.2.4") == -1


def test_ten_is_more_than_nine():
    assert compare_versions("10.0", "9.9") == 1


def test_missing_number_is_lower():
    assert compare_versions("1", "1.0.1") == -1
