"""Contrasts, ranks and flips of a slice: planted worlds, definitions and invariances."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from frozenbench.headline import headline
from frozenbench.stats.compare import Settings, compare
from frozenbench.stats.grid import Cell, Grid, build_grid
from frozenbench.stats.holm import holm
from frozenbench.stats.intervals import adjusted_tango, tango
from frozenbench.stats.results import Comparison
from hypothesis import given, settings
from hypothesis import strategies as st

SEED = "5eed" * 16
LADDER = {
    name: {"max_tool_calls": cap, "max_seconds": 60}
    for name, cap in zip("wxyz", (1, 2, 4, 8), strict=True)
}


def settings_of(budgets: dict[str, dict[str, float | None]], resamples: int = 400) -> Settings:
    return Settings(budgets, "max_tool_calls", resamples, 0.05, SEED)


def grid_of(
    passes: Sequence[object], weights: Sequence[int] | None = None, repeats: int = 1
) -> Grid:
    counts = np.array(passes, dtype=np.int64)
    agents, budgets, tasks = counts.shape
    return Grid(
        tuple("abcdefgh"[:agents]),
        tuple("wxyz"[:budgets]),
        tuple(f"t{task:03}" for task in range(tasks)),
        repeats,
        np.array(weights or [1] * tasks, dtype=np.int64),
        counts,
    )


def world(rates: Sequence[Sequence[float]], tasks: int, seed: int = 0) -> Grid:
    draw = np.random.default_rng(seed)
    return grid_of((draw.random((*np.shape(rates), tasks)) < np.array(rates)[:, :, None]).tolist())


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    agents, budgets, tasks = (
        draw(st.integers(2, 4)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 14)),
    )
    repeats = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32))
    passes = np.random.default_rng(seed).integers(0, repeats + 1, (agents, budgets, tasks))
    weights = draw(st.lists(st.sampled_from([1, 1, 2, 5]), min_size=tasks, max_size=tasks))
    return grid_of(passes.tolist(), weights, repeats)


def flat(found: Comparison) -> dict[str, object]:
    return dataclasses.asdict(found)


def test_a_planted_lead_flip_is_confirmed_and_marked_at_its_crossing() -> None:
    # a solves the first 30 of 60 tasks under every budget; b none, 5, 40, 60 of them; c none.
    tasks = range(60)
    a = [[int(t < 30) for t in tasks]] * 4
    b = [[int(t >= 60 - k) for t in tasks] for k in (0, 5, 40, 60)]
    c = [[0] * 60] * 4
    found = compare(grid_of([a, b, c]), settings_of(LADDER))
    [flip] = found.flips
    assert dataclasses.asdict(flip) == {
        "agent_a": "a",
        "agent_b": "b",
        "ladder": "max_seconds=60",
        "budget_from": "x",
        "budget_to": "y",
        "kind": "confirmed",
        "support": None,
        "confirmed_from": "x",
        "confirmed_to": "z",
        "old_leader": "a",
        "new_leader": "b",
        "lead": True,
    }
    assert (found.facts.confirmed_pairs, found.facts.suggestive_pairs) == (1, 0)
    assert [found.ranks[agent, "w"].rank for agent in "abc"] == [1, 2, 2]
    assert [found.ranks[agent, "z"].rank for agent in "abc"] == [2, 1, 3]


def test_a_flip_below_first_place_is_no_lead_flip() -> None:
    tasks = range(60)
    a = [[int(t < 20) for t in tasks]] * 2
    b = [[0] * 60, [int(t >= 15) for t in tasks]]
    top = [[1] * 60] * 2
    [flip] = compare(grid_of([a, b, top]), settings_of(LADDER)).flips
    assert (flip.kind, flip.lead) == ("confirmed", False)


@pytest.mark.parametrize("low", [True, False])
def test_a_lead_flip_needs_first_place_before_and_after(low: bool) -> None:
    tasks = range(60)
    a = [[int(t < 20) for t in tasks]] * 2
    b = [[0] * 60, [int(t >= 15) for t in tasks]]
    third = [[int(low)] * 60, [int(not low)] * 60]  # leads before the flip, or after it
    flips = compare(grid_of([a, b, third]), settings_of(LADDER)).flips
    [flip] = [flip for flip in flips if (flip.agent_a, flip.agent_b) == ("a", "b")]
    assert (flip.kind, flip.lead) == ("confirmed", False)


def test_budgets_on_other_ladders_make_no_crossing() -> None:
    tasks = range(60)
    a = [[int(t < 30) for t in tasks]] * 2
    b = [[0] * 60, [1] * 60]
    apart = {
        "w": {"max_tool_calls": 1, "max_seconds": 60},
        "x": {"max_tool_calls": 2, "max_seconds": 90},
    }
    found = compare(grid_of([a, b]), settings_of(apart))
    assert found.flips == ()
    assert [contrast.rejected for contrast in found.contrasts] == [True, True]


def test_equal_passes_tie_share_the_rank_and_never_flip() -> None:
    found = compare(grid_of([[[1, 0, 1]] * 2, [[0, 1, 1]] * 2]), settings_of(LADDER))
    assert found.flips == ()
    assert {rank.rank for rank in found.ranks.values()} == {1}
    assert all(c.p == 1.0 and c.statistic == 0 and c.discordant == 2 for c in found.contrasts)


def test_a_crossing_that_most_resamples_keep_is_suggestive_and_a_weak_one_unresolved() -> None:
    tasks = range(40)
    a = [[int(t < 4) for t in tasks], [0] * 40]
    b = [[0] * 40, [int(t >= 36) for t in tasks]]
    [flip] = compare(grid_of([a, b]), settings_of(LADDER, 4000)).flips
    assert flip.kind == "suggestive"
    assert flip.support == pytest.approx((1 - 0.9**40) ** 2, abs=0.02)
    a[0] = [int(t < 1) for t in tasks]
    [flip] = compare(grid_of([a, b]), settings_of(LADDER, 4000)).flips
    assert flip.kind == "unresolved"
    assert flip.support == pytest.approx((1 - (39 / 40) ** 40) * (1 - 0.9**40), abs=0.03)


def test_intervals_are_tangos_adjusted_where_weights_or_repeats_differ_and_none_below_ten() -> None:
    grid = world([[0.7], [0.4]], 60)
    ahead = int(((grid.passes[0] - grid.passes[1]) > 0).sum())
    [contrast] = compare(grid, settings_of(LADDER)).contrasts
    assert contrast.discordant >= 10
    assert (contrast.low, contrast.high) == tango(ahead, contrast.discordant - ahead, 60)
    assert contrast.interval == "tango"
    weighted = dataclasses.replace(grid, weights=np.array([1, 2] * 30))
    [contrast] = compare(weighted, settings_of(LADDER)).contrasts
    s = (grid.passes[0, 0] - grid.passes[1, 0]) * weighted.weights
    assert (contrast.low, contrast.high) == adjusted_tango(s, weighted.weights, 1)
    assert contrast.interval == "adjusted_tango"
    doubled = dataclasses.replace(weighted, repeats=2, passes=weighted.passes * 2)
    [same] = compare(doubled, settings_of(LADDER)).contrasts
    assert (same.delta, same.low, same.high) == (contrast.delta, contrast.low, contrast.high)
    for discordant, has in ((9, False), (10, True)):
        passes = [[[1] * discordant + [0] * 9], [[0] * (discordant + 9)]]
        [contrast] = compare(grid_of(passes), settings_of(LADDER)).contrasts
        assert contrast.discordant == discordant
        assert (contrast.interval is not None) is (contrast.low is not None) is has


def test_the_resamples_decide_no_interval_of_a_difference() -> None:
    grid = dataclasses.replace(world([[0.7], [0.4]], 60), weights=np.array([1, 2] * 30))
    few, many = (compare(grid, settings_of(LADDER, count)).contrasts[0] for count in (20, 2000))
    assert (few.low, few.high) == (many.low, many.high)


def test_weights_that_rest_on_one_task_are_told() -> None:
    grid = world([[0.7], [0.4]], 60)
    assert compare(grid, settings_of(LADDER)).facts.weight_notice is None
    heavy = dataclasses.replace(grid, weights=np.array([1] * 59 + [20]))
    assert "one alone has 25.3 % of it" in (
        compare(heavy, settings_of(LADDER)).facts.weight_notice or ""
    )


@given(grids())
@settings(deadline=None, max_examples=60)
def test_contrasts_follow_their_definitions(grid: Grid) -> None:
    found = compare(grid, settings_of(LADDER, 50))
    pairs = list(combinations(grid.agents, 2))
    assert [(c.agent_a, c.agent_b, c.budget) for c in found.contrasts] == [
        (*pair, budget) for pair in pairs for budget in grid.budgets
    ]
    assert [c.p_holm for c in found.contrasts] == holm([c.p for c in found.contrasts])
    for c in found.contrasts:
        a, b = grid.agents.index(c.agent_a), grid.agents.index(c.agent_b)
        k = grid.passes[:, grid.budgets.index(c.budget)]
        s = [int(w * (x - y)) for w, x, y in zip(grid.weights, k[a], k[b], strict=True)]
        assert (c.statistic, c.discordant) == (sum(s), sum(value != 0 for value in s))
        assert c.delta == pytest.approx(c.rate_a - c.rate_b, abs=1e-12)
        assert c.delta == pytest.approx(sum(s) / (sum(grid.weights.tolist()) * grid.repeats))
        assert c.rejected == (c.p_holm <= 0.05)


@given(grids(), st.integers(2, 9))
@settings(deadline=None, max_examples=40)
def test_a_common_factor_of_all_weights_changes_nothing_but_the_statistic(
    grid: Grid, by: int
) -> None:
    scaled = dataclasses.replace(grid, weights=grid.weights * by)
    one, other = (
        flat(compare(grid, settings_of(LADDER, 50))),
        flat(compare(scaled, settings_of(LADDER, 50))),
    )
    for row in one["contrasts"]:  # type: ignore[attr-defined]
        row["statistic"] *= by
    assert one == other


@given(grids())
@settings(deadline=None, max_examples=40)
def test_swapping_two_agents_mirrors_their_contrast(grid: Grid) -> None:
    turned = dataclasses.replace(
        grid, agents=grid.agents[::-1], passes=np.ascontiguousarray(grid.passes[::-1])
    )
    one, other = compare(grid, settings_of(LADDER, 50)), compare(turned, settings_of(LADDER, 50))
    mirrored = {(c.agent_b, c.agent_a, c.budget): c for c in other.contrasts}
    for c in one.contrasts:
        twin = mirrored[c.agent_a, c.agent_b, c.budget]
        assert (c.p, c.p_holm, c.rejected) == (twin.p, twin.p_holm, twin.rejected)
        assert (c.delta, c.statistic) == (-twin.delta, -twin.statistic)
    assert one.ranks == other.ranks
    leaders = {
        (f.budget_from, f.budget_to, f.old_leader, f.new_leader, f.kind, f.support)
        for f in one.flips
    }
    assert leaders == {
        (f.budget_from, f.budget_to, f.old_leader, f.new_leader, f.kind, f.support)
        for f in other.flips
    }


@given(grids(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_the_order_of_the_cells_changes_nothing(grid: Grid, seed: int) -> None:
    rows: list[Cell] = [
        (agent, budget, task, repeat, int(grid.weights[t]), repeat < int(grid.passes[a, b, t]))
        for a, agent in enumerate(grid.agents)
        for b, budget in enumerate(grid.budgets)
        for t, task in enumerate(grid.tasks)
        for repeat in range(grid.repeats)
    ]
    random.Random(seed).shuffle(rows)
    again = build_grid(rows, grid.agents, grid.budgets, grid.repeats)
    assert compare(again, settings_of(LADDER, 50)) == compare(grid, settings_of(LADDER, 50))


def test_the_ranking_under_unit_weights_stands_beside_and_pairs_that_differ_are_named() -> None:
    grid = grid_of([[[1, 0, 0]], [[0, 1, 1]]], weights=[5, 1, 1])
    found = compare(grid, settings_of(LADDER))
    assert [
        (found.ranks[name, "w"].rank, found.ranks[name, "w"].rank_unweighted) for name in "ab"
    ] == [
        (1, 2),
        (2, 1),
    ]
    assert found.facts.rank_differs_unweighted == (("a", "b", "w"),)


def test_the_facts_of_a_small_pack() -> None:
    grid = grid_of([[[1] * 6 + [0] * 6], [[0] * 12]])
    facts = compare(grid, settings_of(LADDER)).facts
    assert (facts.pairs, facts.contrasts, facts.min_discordant, facts.cannot_confirm) == (
        1,
        1,
        6,
        False,
    )
    assert facts.n_for_80_power_contrast == ("a", "b", "w")
    assert facts.n_for_80_power is not None
    assert facts.n_for_80_power > 12
    small = compare(grid_of([[[1] * 5], [[0] * 5]]), settings_of(LADDER)).facts
    assert (small.cannot_confirm, small.few_tasks) == (True, False)
    few = compare(grid_of([[[1] * 11], [[0] * 11]]), settings_of(LADDER)).facts
    assert (few.cannot_confirm, few.few_tasks) == (False, True)


def test_a_flip_can_be_confirmed_on_the_same_few_tasks_under_both_budgets() -> None:
    """14 tasks, of which each contrast needs 8: a has 8 of them early, b all 14 late."""
    a = [[int(t < 8) for t in range(14)]] * 4
    b = [[0] * 14] * 3 + [[1] * 14]
    found = compare(grid_of([[*a[:3], [0] * 14], b]), settings_of(LADDER))
    assert found.facts.min_discordant == 8
    assert found.facts.confirmed_pairs == 1
    assert (found.facts.cannot_confirm, found.facts.few_tasks) == (False, False)


@given(grids(), st.sampled_from(["as it is", "the first solves all, the others nothing"]))
@settings(deadline=None, max_examples=60)
def test_nothing_is_called_impossible_that_is_found(grid: Grid, planted: str) -> None:
    """On whatever tasks, and however few: what a headline denies is never what it tells."""
    if planted != "as it is":
        passes = np.zeros_like(grid.passes)
        passes[0] = grid.repeats
        passes[:, -1] = grid.repeats - passes[:, -1]
        grid = dataclasses.replace(grid, passes=passes)
    found = compare(grid, settings_of(LADDER, 20))
    facts = dataclasses.asdict(found.facts)
    controls = {"budgets": {name: LADDER[name] for name in grid.budgets}}
    view = {"budgets": list(grid.budgets), "budget_axis": "max_tool_calls"}
    told = headline(facts, controls, view)
    if any(contrast.rejected for contrast in found.contrasts):
        assert "cannot confirm" not in told
    if found.facts.confirmed_pairs:
        assert " few " not in told
    assert not (found.facts.cannot_confirm and found.facts.few_tasks)


def test_one_agent_alone_has_a_rank_and_no_contrast() -> None:
    found = compare(grid_of([[[1, 0]]]), settings_of(LADDER))
    assert (found.contrasts, found.flips) == ((), ())
    assert (found.ranks["a", "w"].rank_low, found.ranks["a", "w"].rank_high) == (1, 1)
    assert found.facts.n_for_80_power is None


def test_identical_agents_that_cross_are_not_confirmed() -> None:
    confirmed = crossed = 0
    for seed in range(60):
        found = compare(world([[0.5] * 4] * 3, 24, seed), settings_of(LADDER, 20))
        crossed += bool(found.flips)
        confirmed += found.facts.confirmed_pairs
    assert crossed > 45
    assert confirmed == 0
