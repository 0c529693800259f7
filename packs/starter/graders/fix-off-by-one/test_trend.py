import pytest
from frozenbench_candidate import load

trend = load("trend.py")
moving_mean, windows = trend.moving_mean, trend.windows


def test_the_last_window_is_there():
    assert windows([1, 2, 3], 2) == [[1, 2], [2, 3]]


def test_windows_of_one():
    assert windows([4, 5, 6], 1) == [[4], [5], [6]]


def test_one_window_over_the_whole_series():
    assert windows([4, 5, 6], 3) == [[4, 5, 6]]


@pytest.mark.parametrize("size", [4, 5, 9])
def test_a_series_shorter_than_the_window_has_none(size):
    assert windows([4, 5, 6], size) == []
    assert moving_mean([4, 5, 6], size) == []


def test_an_empty_series_has_none():
    assert windows([], 1) == []


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_every_window_has_its_size_and_none_is_missing(size):
    found = windows([0, 1, 2, 3, 4, 5], size)
    assert [window[0] for window in found] == list(range(7 - size))
    assert {len(window) for window in found} == {size}


def test_moving_mean():
    assert [float(mean) for mean in moving_mean([1, 3, 5, 7], 2)] == [2.0, 4.0, 6.0]


def test_the_series_is_not_changed():
    series = [1, 2, 3, 4]
    windows(series, 2)
    assert series == [1, 2, 3, 4]
