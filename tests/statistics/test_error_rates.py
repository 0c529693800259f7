"""False contrasts, false flips and power in seeded worlds: a small part of `make statistics`."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from error_rates import (
    ALPHA,
    FLAT,
    HARD,
    RESAMPLES,
    RISING,
    World,
    look_at_all,
    opposed,
    row,
    true_differences,
    true_flip,
)
from frozenbench.stats.compare import Settings, compare
from frozenbench.stats.exact import sign_flip_p
from frozenbench.stats.grid import Grid
from simulated_worlds import CORRELATED, draw_passes, standard_error, weights_of

WORLDS = 300
#: Three standard errors: one sound test of 700 would fall here, and the seeds are fixed.
LIMIT = ALPHA + 3 * standard_error(ALPHA, WORLDS)

CAPS = {name: {"max_tool_calls": cap} for name, cap in zip("wxyz", (1, 2, 4, 8), strict=True)}
NULL = World("null", ".13 to .74", [RISING] * 3, 24, CORRELATED)


@pytest.mark.parametrize(
    "world",
    [
        NULL,
        World("null", ".42 flat", [FLAT] * 3, 60),
        dataclasses.replace(NULL, weights="starter"),
        dataclasses.replace(NULL, repeats=3),
        World("hard null", "apart at one end", HARD, 60),
        World("hard null", "apart at one end", HARD, 60, CORRELATED, "starter", 3),
    ],
    ids=lambda world: f"{world.name} {world.weights} {world.repeats} {world.tasks}",
)
def test_false_contrasts_and_false_flips_stay_below_five_percent(world: World) -> None:
    found = row(world, WORLDS, 1)
    assert found["false_contrast"] <= LIMIT
    assert found["false_confirmed"] <= LIMIT


def test_without_holm_the_same_worlds_would_be_full_of_false_contrasts() -> None:
    """The limit above can be broken: this is what it guards against."""
    passes = draw_passes([FLAT] * 3, 60, WORLDS, (1, 60))
    false = [
        any(
            sign_flip_p(a[b] - c[b]) <= ALPHA
            for a, c in ((w[0], w[1]), (w[0], w[2]), (w[1], w[2]))
            for b in range(4)
        )
        for w in passes
    ]
    assert np.mean(false) > 2 * LIMIT


def test_identical_agents_cross_in_nine_worlds_of_ten_and_none_is_confirmed() -> None:
    found = row(World("null", ".30 flat", [(0.3,) * 4] * 3, 48), WORLDS, 2)
    assert found["crossed"] > 0.9
    assert found["false_confirmed"] == 0


def test_the_named_flip_is_confirmed_in_eight_worlds_of_ten() -> None:
    found = row(World("planted", "named", (FLAT, RISING), 80), WORLDS, 3)
    assert found["confirmed"] - 3 * found["standard_error"] >= 0.80


def test_a_quarter_of_the_tasks_does_not_confirm_it() -> None:
    assert row(World("planted", "named", (FLAT, RISING), 20), WORLDS, 4)["confirmed"] < 0.2


def test_what_is_falsely_rejected_among_opposed_agents_lacks_the_heavy_tasks() -> None:
    """Equal weighted rates, signs that go with the weights: outside what the test promises.

    All false rejections are in favour of the agent of the many light tasks, in worlds in which the
    few heavy ones happened to decide little.
    """
    rates, weights = opposed(24, "starter"), weights_of("starter", 24)
    passes = draw_passes(rates[:, :1], 24, 4000, (6, 24))
    s = (passes[:, 0, 0] - passes[:, 1, 0]) * weights
    rejected = np.array([sign_flip_p(one) for one in s]) <= ALPHA / 4
    assert rejected.sum() >= 30
    assert np.all(s[rejected].sum(axis=1) < 0)
    heavy = np.abs(s[:, weights > 1]).sum(axis=1)
    assert heavy[rejected].mean() < 0.6 * heavy.mean()
    plus = np.sum(s > 0, axis=0) / np.sum(s != 0, axis=0)  # 1/2 on each task under the null
    assert plus[weights > 1].min() > 0.8
    assert plus[weights == 1].max() < 0.1


def test_what_a_world_truly_holds() -> None:
    planted = World("planted", "", (FLAT, RISING), 80)
    assert true_differences(planted).tolist() == [[0.29, 0.16, -0.08, -0.32]]
    assert true_flip(true_differences(planted))
    assert not true_flip(true_differences(World("hard null", "", HARD, 80)))


@pytest.mark.parametrize("weights", ["equal", "starter"])
def test_the_worlds_are_looked_at_as_compare_does(weights: str) -> None:
    world = World("planted", "", (FLAT, RISING, FLAT), 24, CORRELATED, weights)
    seen = look_at_all(world, 12, (5,))
    passes = draw_passes(world.rates, 24, 12, (5,), CORRELATED)
    names = tuple(f"t{number:02}" for number in range(24))
    kinds = set()
    for one, counts in zip(seen, passes, strict=True):
        grid = Grid(("a", "b", "c"), tuple("wxyz"), names, 1, weights_of(weights, 24), counts)
        settings = Settings(CAPS, "max_tool_calls", RESAMPLES, ALPHA, f"{24:x}5eed")
        found = compare(grid, settings)
        assert one.rejected.ravel().tolist() == [c.rejected for c in found.contrasts]
        assert one.signs.ravel().tolist() == [np.sign(c.statistic) for c in found.contrasts]
        assert one.kinds == {flip.kind for flip in found.flips}
        kinds |= one.kinds
    assert "unresolved" in kinds
