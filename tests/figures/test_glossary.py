"""Every term that a picture holds is explained in it, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from frozenbench.figures import figure_names, style
from frozenbench.figures.inputs import Inputs
from matplotlib.figure import Figure
from read_figure import words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]
COUNTS = {"first": [14, 14], "second": [12, 18]}
TERMS = ("split:", "in-process:", "exit-status:", "oracle stop:", "final:", "guard:", "strict:")


def said(figure: Figure) -> str:
    return " ".join(words(figure).split())


def terms(figure: Figure) -> set[str]:
    found = {term.rstrip(":") for term in TERMS if term in said(figure)}
    return found | ({"REPLAYED"} if "REPLAYED: recorded" in said(figure) else set())


@pytest.mark.parametrize("figure", figure_names())
def test_terms_of_the_box_and_the_footer(draw: Draw, figure: str) -> None:
    picture, _ = draw(World(COUNTS, caps=(1, 8)), figure)
    assert terms(picture) == {"in-process", "oracle stop", "guard", "REPLAYED"}


def test_only_terms_that_stand_there(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls |= {"grading": "final", "clock": "strict"}
        for place, task in enumerate(controls["tasks"].values()):
            task["grader_trust"] = "split" if place else "exit-status"

    live = {"distinct": 5, "recorded": False, "first_date": None, "last_date": None}
    figure, _ = draw(World(COUNTS, caps=(1, 8), edit_controls=edit, responses=live))
    assert terms(figure) == {"split", "exit-status", "final", "strict"}
    assert "REPLAYED" not in said(figure)


def test_a_log_states_none_of_them(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["source"] = {
            **{"axis": None, "unit": None, "formats": ["plain"], "file_count": 1, "notices": []},
            **{"material": {"files_sha256": "0" * 64}, "controls_known": [], "own_limit": None},
            "controls_not_stated": [],
        }

    figure, _ = draw(World(COUNTS, caps=(1, 8), edit_controls=edit), "outcomes")
    assert terms(figure) == set()


def test_the_own_limit_of_a_log_has_its_unit(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["source"] = {
            **{"axis": "calls", "unit": "model calls", "formats": ["plain"], "file_count": 1},
            **{"material": {"files_sha256": "0" * 64}, "controls_known": [], "own_limit": 250},
            **{"controls_not_stated": [], "notices": []},
        }

    figure, _ = draw(World(COUNTS, caps=(1, 8), edit_controls=edit), "outcomes")
    assert "250 model calls" in said(figure)


def test_budget_curves_defines_support_and_every_bar(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, caps=(1, 8)))
    for text in (
        "support (share of 10000 resamples of tasks in which both signs are as observed) ≥ 0.95",
        "share of the tasks’ weight (all equal) that is PASS; bars: 95 % Wilson intervals over 48 tasks",
        "unweighted share of cells EXHAUSTED (stopped by a cap while it wanted more, and the tests "
        "do not pass)",
        "colours, markers and bars as in a",
        "bars: 95 % intervals over resamples of tasks",
    ):
        assert text in said(figure).replace("\u00a0", " ")
    assert "Tinted" not in said(figure)
    flipped, _ = draw(World(COUNTS, caps=(1, 8), kind=lambda a, b, before: "confirmed"))
    assert "Tinted: rank 1 flips" in said(flipped)


@pytest.mark.parametrize("figure", figure_names())
def test_the_note_is_short(draw: Draw, figure: str) -> None:
    picture, _ = draw(World({"one": [4, 9], "two": [6, 6], "three": [4, 4]}, caps=(1, 8)), figure)
    below = min(axes.get_position().y0 for axes in picture.axes)
    lines = {
        round(y, 4)
        for text in picture.texts
        if (y := text.get_position()[1]) < below
        and text.get_fontsize() == style.NOTE
        and len(text.get_text()) > 20
    }
    assert 0 < len(lines) <= 5
