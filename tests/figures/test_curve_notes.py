"""The words of `budget_curves`: who flips, who leads, and what the note says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from frozenbench.figures import style
from frozenbench.figures.curve_notes import leads_found
from frozenbench.figures.inputs import Inputs
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from read_figure import boxes, words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]
COUNTS = {"oneshot": [14, 14, 14, 14], "resample": [12, 18, 20, 24], "repair": [12, 17, 23, 26]}
#: Two agents that change the lead twice, and a third that never leads.
FLIPS = {"early": [30, 20, 20, 40], "late": [10, 24, 36, 30], "last": [1, 2, 3, 4]}


def ring_marks(figure: Figure) -> list[Ellipse]:
    return [item for item in figure.get_children() if isinstance(item, Ellipse)]


def text(figure: Figure) -> str:
    return words(figure).replace("\n", " ").replace("\u00a0", " ")


def test_pairs_and_rings_are_counted_apart(draw: Draw) -> None:
    """A pair that flips twice is one pair, and has two rings."""
    sure, _ = draw(World(FLIPS, kind=lambda a, b, before: "suggestive" if before else "confirmed"))
    assert len(ring_marks(sure)) == 2
    told = "1 of 3 pairs has a confirmed flip, 0 more a suggestive one (rings: 1 solid, 1 dotted)."
    assert told in text(sure)
    none, _ = draw(World(FLIPS))
    assert "0 of 3 pairs have a confirmed flip, 0 a suggestive one. At 1 tool call:" in text(none)


def test_flips_without_a_ring_are_counted_and_their_table_is_named(draw: Draw) -> None:
    counts = {f"agent-{i}": [(7 * i * (k + 2)) % 48 for k in range(5)] for i in range(12)}
    caps = (1, 2, 4, 8, 16)
    figure, inputs = draw(World(counts, caps=caps, kind=lambda a, b, before: "suggestive"))
    drawn = len(ring_marks(figure))
    left = len(inputs.flips) - drawn
    assert left > 0
    rings = f"{drawn} dotted" if drawn else "none"
    assert f"(rings: {rings}; {left} more are in tables/flips.csv)" in text(figure)


def test_other_changes_of_the_leader_are_named_where_there_are_some(draw: Draw) -> None:
    others = "other changes of the leader are not"
    all_of_them, _ = draw(World(FLIPS, kind=lambda a, b, before: "confirmed"))
    assert "Tinted" in text(all_of_them)
    assert others not in text(all_of_them)
    one, _ = draw(World(FLIPS, kind=lambda a, b, before: "unresolved" if before else "confirmed"))
    assert others in text(one)


def test_no_bar_of_a_rank_is_explained_where_others_have_one(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS))
    assert "No bar in c: the interval is that one rank." in text(figure)


def test_the_unit_of_a_cut_stands_with_its_leader(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["source"] = {
            **{"axis": "calls", "unit": "calls", "formats": ["plain"], "file_count": 1},
            **{"material": {"files_sha256": "0" * 64}, "controls_known": [], "own_limit": 250},
            **{"controls_not_stated": [], "notices": []},
        }

    figure, _ = draw(World({"a": [9, 4], "b": [4, 9]}, caps=(1, 250), edit_controls=edit))
    assert "At 1 call: a leads, not resolved. At 250 calls: b leads, not resolved." in text(figure)
    assert "REPLAYED" not in text(figure)
    assert "(its run used more than the cut, and counts as not passed)" in text(figure)
    assert "EXHAUSTED as well: the log’s own ending says that a budget ran out." in text(figure)
    edge = style.RIGHT * figure.dpi
    assert [said for said, box in boxes(figure) if box.x1 > edge + 2] == []


@pytest.mark.parametrize(
    ("counts", "rejected", "told"),
    [
        (
            {"a": [9, 4], "b": [4, 9]},
            (),
            ["At 1 tool call: a leads, not resolved.", "At 8 tool calls: b leads, not resolved."],
        ),
        ({"a": [9, 4], "b": [4, 9]}, (("a", "b"),), ["At 1 tool call: a leads, resolved."]),
        (
            {"a": [9, 9], "b": [9, 4]},
            (),
            ["At 1 tool call: all tie.", "At 8 tool calls: a leads, not resolved."],
        ),
        (
            {"a": [9, 9], "b": [9, 4], "c": [1, 1]},
            (("a", "c"),),
            [
                "At 1 tool call: a and b tie for the lead.",
                "At 8 tool calls: a leads, resolved from all but b.",
            ],
        ),
        (
            {"a": [9, 9], "b": [8, 4], "c": [1, 1]},
            (),
            ["At 1 tool call: a leads, not resolved from any other."],
        ),
        ({"a": [9, 9]}, (), []),
    ],
)
def test_the_leader_of_both_ends_is_named_with_what_is_resolved(
    draw: Draw,
    counts: dict[str, list[int]],
    rejected: tuple[tuple[str, str], ...],
    told: list[str],
) -> None:
    _, inputs = draw(World(counts, caps=(1, 8)))
    names = [rung.name for rung in inputs.rungs]
    held = {(a, b, name) for pair in rejected for a, b in permutations(pair) for name in names}
    found = leads_found(dataclasses.replace(inputs, rejected=frozenset(held)))
    assert found[: len(told)] == told
    assert bool(found) == bool(told)


def test_one_contrast_is_one(draw: Draw) -> None:
    figure, _ = draw(World({"a": [9], "b": [4]}, caps=(1,)))
    assert "Holm over 1 contrast, α" in text(figure)
