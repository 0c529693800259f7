"""EXHAUSTED left out of a rate: counted over the cells that remain, by hand."""

from __future__ import annotations

import numpy as np
from frozenbench.stats.bounds import LeftOut, left_out
from frozenbench.stats.grid import Grid


def grid(counts: list[list[list[int]]], weights: list[int], repeats: int) -> Grid:
    passes = np.array(counts, dtype=np.int64)
    tasks = tuple(f"t{number}" for number in range(passes.shape[2]))
    budgets = tuple("wx"[: passes.shape[1]])
    return Grid(tuple("ab"[: len(counts)]), budgets, tasks, repeats, np.array(weights), passes)


def test_what_is_exhausted_leaves_numerator_and_denominator_alike() -> None:
    # Two repeats, weights 1, 2, 5. PASS 2, 1, 0 and EXHAUSTED 0, 1, 1 of each task's two cells.
    found = left_out(grid([[[2, 1, 0]]], [1, 2, 5], 2), grid([[[0, 1, 1]]], [1, 2, 5], 2))
    assert found == {("a", "w"): LeftOut(4, 3 / 4, 4 / 9)}


def test_where_all_is_exhausted_nothing_is_left() -> None:
    passed, exhausted = grid([[[0, 0]], [[1, 0]]], [1, 3], 1), grid([[[1, 1]], [[0, 0]]], [1, 3], 1)
    found = left_out(passed, exhausted)
    assert found["a", "w"] == LeftOut(0, None, None)
    assert found["b", "w"] == LeftOut(2, 0.5, 0.25)


def test_nothing_exhausted_is_the_rate_itself() -> None:
    passed, exhausted = grid([[[1, 0, 1]]], [1, 2, 3], 1), grid([[[0, 0, 0]]], [1, 2, 3], 1)
    assert left_out(passed, exhausted)["a", "w"] == LeftOut(3, 2 / 3, 4 / 6)
