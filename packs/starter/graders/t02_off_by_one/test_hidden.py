import pytest
from frozenbench_candidate import load

clamp_index = load("clamp.py").clamp_index


@pytest.mark.parametrize("i", [0, 1, 5, 6])
def test_an_index_inside_stays(i):
    assert clamp_index(i, 7) == i


@pytest.mark.parametrize("i", [-1, -2, -1000])
def test_below_gives_the_first_position(i):
    assert clamp_index(i, 7) == 0


@pytest.mark.parametrize("i", [7, 8, 1000])
def test_above_gives_the_last_position(i):
    assert clamp_index(i, 7) == 6


@pytest.mark.parametrize("i", [-1, 0, 1, 2])
def test_one_position_is_always_the_answer(i):
    assert clamp_index(i, 1) == 0


@pytest.mark.parametrize("n", [0, -1, -7])
@pytest.mark.parametrize("i", [-1, 0, 3])
def test_no_positions_is_a_value_error(i, n):
    with pytest.raises(ValueError):
        clamp_index(i, n)
