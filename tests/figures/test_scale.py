"""The budget axis: no mark hides another of its budget, and none stands nearer to another budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, pairwise

import pytest
from frozenbench.figures import marks, style
from frozenbench.figures.inputs import Inputs, Rung
from frozenbench.figures.scale import Scale, make_scale
from hypothesis import example, given
from hypothesis import strategies as st
from mark_area import hidden
from matplotlib.figure import Figure
from read_figure import boxes, words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]

#: Powers of two, some with a last cap close to the one before, and caps as they come.
COST = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 3.0)
close = st.tuples(st.integers(0, 8), st.floats(1.02, 1.9)).map(
    lambda made: (*(2.0**power for power in range(made[0] + 1)), 2.0 ** made[0] * made[1])
)
caps_of_a_ladder = st.one_of(
    close,
    st.sets(st.integers(1, 10**5), min_size=1, max_size=30).map(lambda held: tuple(sorted(held))),
)
#: The most of a mark that others of its budget may cover where none is said to be hidden.
SMALL = 0.2


def axis(caps: tuple[float, ...], agents: int, open_end: bool = False) -> Scale:
    rungs = [Rung(str(cap), float(cap)) for cap in caps] + [Rung("open", None)] * open_end
    return make_scale(rungs, 5.3, marks.group_width(agents))


def looks(agents: int) -> dict[str, style.Look]:
    return style.coloured([f"agent-{number}" for number in range(agents)], None)


def worst_cover(scale: Scale, held: dict[str, style.Look]) -> float:
    """Return the largest share of a mark that one of an equal rate under its budget covers."""
    stand = marks.standing(scale, held)
    return max(
        hidden(held[one], held[other], across / scale.per_inch, 0.0, stand.size)
        for one, other in combinations(held, 2)
        for across in {
            round(mine - theirs, 9)
            for mine, theirs in zip(stand.offsets[other], stand.offsets[one], strict=True)
        }
    )


@given(caps_of_a_ladder, st.booleans(), st.integers(1, 6))
def test_budgets_stand_at_their_logarithm(
    caps: tuple[float, ...], open_end: bool, agents: int
) -> None:
    scale = axis(caps, agents, open_end)
    assert list(scale.places) == sorted(set(scale.places))
    assert scale.places[: len(caps)] == tuple(math.log2(cap) for cap in caps)
    at = [scale.inches(place) for place in scale.places]
    assert scale.inches(scale.limits[0]) == pytest.approx(0, abs=1e-9)
    assert scale.inches(scale.limits[1]) == pytest.approx(5.3)
    assert at[0] == pytest.approx(5.3 - at[-1])


@given(caps_of_a_ladder, st.booleans(), st.integers(2, 6))
@example(COST, False, 4)
@example((100, 1000, 1100, 1200, 10000), False, 6)
def test_no_mark_hides_another_or_the_figure_does_not_say_so(
    caps: tuple[float, ...], open_end: bool, agents: int
) -> None:
    scale, held = axis(caps, agents, open_end), looks(agents)
    if marks.standing(scale, held).clear:
        assert worst_cover(scale, held) <= SMALL


@given(caps_of_a_ladder, st.booleans(), st.integers(1, 6))
@example(COST, False, 6)
def test_every_mark_is_nearest_to_its_own_budget(
    caps: tuple[float, ...], open_end: bool, agents: int
) -> None:
    scale, held = axis(caps, agents, open_end), looks(agents)
    stand = marks.standing(scale, held)
    ticks = [scale.inches(place) for place in scale.places]
    found = [
        sorted(scale.inches(stand.xs(agent, scale)[rung]) for agent in held)
        for rung in range(len(ticks))
    ]
    for rung, group in enumerate(found):
        for x in group:
            own = abs(x - ticks[rung])
            assert all(own <= abs(x - other) + 1e-9 for other in ticks)
            assert 0 < x < 5.3
    assert all(left[-1] <= right[0] + 1e-9 for left, right in pairwise(found))
    if agents == 1:
        assert [group[0] for group in found] == pytest.approx(ticks)


def test_two_close_caps_have_room_at_their_outer_sides() -> None:
    """2.56 and 3 are 0.1 inches apart; four tied agents stood on each other under every budget."""
    scale, held = axis(COST, 4), looks(4)
    assert marks.standing(scale, held).clear
    assert worst_cover(scale, held) <= SMALL
    assert marks.standing(scale, held).size > 0.9


def test_far_budgets_keep_their_room_beside_close_ones() -> None:
    scale, held = axis((1, 1000, 1010, 1020), 6), looks(6)
    stand = marks.standing(scale, held)
    assert not stand.clear
    first = [scale.inches(stand.xs(agent, scale)[0]) for agent in held]
    assert min(high - low for low, high in pairwise(first)) == pytest.approx(0.06 * stand.size)


def said(figure: Figure) -> str:
    return words(figure).replace("\n", " ")


def test_the_note_says_what_is_true(draw: Draw) -> None:
    counts = {f"agent-{number}": [20, 22, 24, 30, 31] for number in range(6)}
    crowded, _ = draw(World(counts, caps=(100, 1000, 1100, 1200, 10000), axis="max_tokens"))
    assert "each is seen" not in said(crowded)
    assert "at close budgets some hide others" in said(crowded)
    clear, _ = draw(World(counts, caps=(1, 2, 4, 8, 16)))
    assert "offset sideways: each is seen, some touch or overlap in part" in said(clear)
    alone, _ = draw(World({"alone": [1, 2, 3, 4]}))
    assert "offset" not in said(alone)


def test_labels_that_find_no_room_are_left_out_but_for_the_ends(draw: Draw) -> None:
    counts = {"one": list(range(30)), "two": list(range(30, 0, -1))}
    figure, _ = draw(World(counts, caps=range(1, 31)))
    assert "ran at exactly the budgets of the ticks" in said(figure)
    assert len(figure.axes[0].get_xticks()) == 30
    bottom = min(box.y1 for text, box in boxes(figure) if text == "30")
    row = {text for text, box in boxes(figure) if box.y1 == pytest.approx(bottom, abs=2)}
    assert {"1", "30"} <= row
    few, _ = draw(World({"one": [1, 2, 3, 4]}))
    assert "labelled" not in said(few)


@given(caps_of_a_ladder)
def test_tick_labels_of_a_row_do_not_touch(caps: tuple[float, ...]) -> None:
    scale = axis(caps, 3)
    rows = scale.tick_rows
    assert rows[0] is not None
    assert rows[-1] is not None
    held = [
        (row, scale.inches(place), style.width_of(text, style.AXIS))
        for place, text, row in zip(scale.places, scale.labels, rows, strict=True)
        if row is not None
    ]
    for (row, x, wide), (other, z, broad) in combinations(held, 2):
        assert row != other or abs(x - z) >= (wide + broad) / 2
