"""A grid has every cell once, or there is none."""

from __future__ import annotations

from itertools import product

import pytest
from frozenbench.canonical import BadInput, Refused
from frozenbench.stats.grid import Cell, Grid, build_grid


def cells(repeats: int = 2) -> list[Cell]:
    weights = {"t1": 2, "t2": 5}
    return [
        (agent, budget, task, repeat, weights[task], (agent, task) == ("a", "t2") or repeat == 0)
        for agent, budget, task, repeat in product(
            ("a", "b"), ("x", "y"), ("t2", "t1"), range(repeats)
        )
    ]


def build(rows: list[Cell], repeats: int = 2) -> Grid:
    return build_grid(rows, ("b", "a"), ("y", "x"), repeats)


def test_counts_pass_repeats_in_the_order_asked_for() -> None:
    grid = build(cells())
    assert grid.tasks == ("t1", "t2")
    assert grid.weights.tolist() == [2, 5]
    assert grid.passes.tolist() == [[[1, 1], [1, 1]], [[1, 2], [1, 2]]]
    assert grid.totals.tolist() == [[7, 7], [12, 12]]
    assert grid.unit_totals.tolist() == [[2, 2], [3, 3]]
    assert grid.whole == 14
    assert not grid.unit


def test_a_missing_cell_is_named_and_refused() -> None:
    with pytest.raises(Refused, match="the cell of b on t1 under y, repeat 1, is missing"):
        build([cell for cell in cells() if cell[:4] != ("b", "y", "t1", 1)])


def test_a_cell_that_is_there_twice_is_named() -> None:
    with pytest.raises(BadInput, match="the cell of a on t2 under x, repeat 0, is there 2 times"):
        build([*cells(), cells()[0]])


def test_more_repeats_than_the_controls_hold_are_refused() -> None:
    with pytest.raises(BadInput, match="repeat"):
        build(cells(3))


def test_a_task_with_two_weights_is_named() -> None:
    rows = cells()
    rows[-1] = (*rows[-1][:4], 9, True)
    with pytest.raises(BadInput, match="weight: t1"):
        build(rows)


def test_an_agent_outside_the_view_is_named() -> None:
    with pytest.raises(BadInput, match="c under x"):
        build([*cells(), ("c", "x", "t1", 0, 2, True)])
