from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frozenbench.draw_figure import build
from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.pareto_marks import Point, budgets, front, points
from hypothesis import given, settings
from hypothesis import strategies as st
from mark_area import hidden
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from read_figure import boxes, words
from synthetic_view import World, write

Draw = Callable[..., tuple[Figure, Inputs]]
COUNTS = {"oneshot": [14, 14, 14, 48], "resample": [12, 18, 20, 24], "repair": [0, 17, 23, 26]}

clouds = st.lists(
    st.builds(
        Point,
        st.sampled_from(["one", "two"]),
        st.just(0),
        st.integers(0, 9).map(float),
        st.integers(0, 9).map(lambda tenths: tenths / 10),
        st.none(),
        st.none(),
    ),
    max_size=20,
)


@given(clouds)
def test_front_is_what_nothing_beats(found: list[Point]) -> None:
    best = {(point.tokens, point.rate) for point in front(found)}
    unbeaten = {
        (point.tokens, point.rate)
        for point in found
        if not any(
            other.tokens <= point.tokens
            and other.rate >= point.rate
            and (other.tokens, other.rate) != (point.tokens, point.rate)
            for other in found
        )
    }
    assert best == unbeaten
    assert len(front(found)) == len(best)


def said(figure: Figure) -> str:
    return " ".join(words(figure).split())


def drawn(figure: Figure) -> dict[str, tuple[list[float], list[float]]]:
    """Return the marks of each agent: inches from the panel's left, and rates."""
    axes = figure.axes[0]
    box, (low, high) = axes.get_position(), axes.get_xlim()
    width = box.width * style.WIDTH
    found = {}
    for line in axes.get_lines():
        if line.get_linestyle() == "None":
            xs = [(float(x) - low) / (high - low) * width for x in np.asarray(line.get_xdata())]
            ys = [float(y) for y in np.asarray(line.get_ydata())]
            found[str(line.get_label())] = xs, ys
    return found


def numbers(figure: Figure) -> list[tuple[str, str]]:
    """Return what stands in the panel in an agent's colour, beside its names: text and colour."""
    colours = {look.text for look in style.LOOKS} - {style.MUTED}
    return sorted(
        (text.get_text(), str(text.get_color()))
        for text in figure.texts
        if text.get_color() in colours and text.get_fontsize() == style.NOTE
    )


def test_marks_are_means_of_what_was_spent(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS, tokens=lambda agent, cap: 100.0 * cap), "pareto")
    assert [(point.rung, point.tokens) for point in points(inputs)[:4]] == [
        (0, 100),
        (1, 200),
        (2, 400),
        (3, 800),
    ]
    (marks,) = (line for line in figure.axes[0].get_lines() if line.get_label() == "resample")
    assert marks.get_ydata() == pytest.approx(np.array(COUNTS["resample"]) / 48)
    # Three agents spend the same: their marks stand side by side, and how far off is said.
    (most,) = re.findall(r"up to (\d\.\d) mm off their place", said(figure))
    low, high = figure.axes[0].get_xlim()
    inch = (high - low) / (figure.axes[0].get_position().width * style.WIDTH)
    off = np.abs(np.asarray(marks.get_xdata(), dtype=float) - np.log2([100, 200, 400, 800])) / inch
    assert 25.4 * off.max() <= float(most) + 0.05
    assert "Mean tokens spent per run (log₂ scale)" in said(figure)


def test_a_reader_of_the_picture_alone_learns_what_is_drawn(draw: Draw) -> None:
    world = World(COUNTS, kind=lambda a, b, before: "suggestive")
    figure, _ = draw(world, "pareto")
    for text in (
        "Dashed: the best rate for that spend or less.",
        "Bars: 95 % Wilson intervals over 48 tasks.",
        "EXHAUSTED cells (stopped by a cap while it wanted more, and the tests do not pass) count "
        "as not passed",
        "0 of 3 pairs have a confirmed flip, 3 a suggestive one; see budget_curves.",
    ):
        assert text in said(figure).replace("\u00a0", " ")
    world.edit_view = lambda view: view.update(figures=["pareto"])
    figure, _ = draw(world, "pareto")
    assert "see flips.csv." in said(figure)


ALIKE = World(
    {"oneshot": [6] * 4, "resample": [4, 9, 11, 13], "repair": [4, 4, 5, 5]},
    tokens=lambda agent, cap: 310.0 * cap ** {"oneshot": 0.0, "resample": 0.9}.get(agent, 1.2),
)


def test_budgets_of_one_agent_that_coincide_have_one_number(draw: Draw) -> None:
    figure, _ = draw(ALIKE, "pareto")
    blue, orange, black = (look.text for look in style.LOOKS[:3])
    wanted = [("1-8", blue), *((cap, orange) for cap in "1248"), *((cap, black) for cap in "1248")]
    assert numbers(figure) == sorted(wanted)


def test_marks_at_one_place_stand_beside_each_other(draw: Draw) -> None:
    """At 1 call all three spent 310 tokens: two marks and three intervals lay on each other."""
    figure, _ = draw(ALIKE, "pareto")
    first = sorted(xs[0] for xs, _ in drawn(figure).values())
    assert min(high - low for low, high in pairwise(first)) > 0.025
    both = [drawn(figure)[agent][0][0] for agent in ("resample", "repair")]
    assert abs(both[0] - both[1]) > 0.07
    assert len({round(x, 9) for x in drawn(figure)["oneshot"][0]}) == 1


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=6),
    st.sampled_from([0.0, 0.02, 1.0]),
)
def test_no_mark_hides_another_or_the_note_says_so(counts: list[list[int]], apart: float) -> None:
    held = {f"agent-{number}": row for number, row in enumerate(counts)}
    world = World(held, n=3, tokens=lambda agent, cap: 300.0 * cap ** (1 + apart * int(agent[-1])))
    with tempfile.TemporaryDirectory() as folder:
        inputs = write(world, Path(folder)).read("pareto")
    with style.house_style():
        figure = build(inputs)
    if "some hide others" in said(figure):
        return
    looks = style.coloured(inputs.agents, None)
    height = figure.axes[0].get_position().height * figure.get_figheight() / 1.03
    spots = [
        (agent, x, y * height)
        for agent, at in drawn(figure).items()
        for x, y in zip(*at, strict=True)
    ]
    for (one, x, y), (other, u, v) in permutations(spots, 2):
        if one != other:
            assert hidden(looks[one], looks[other], u - x, v - y) <= 0.2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 24), min_size=4, max_size=4), min_size=1, max_size=6))
def test_every_mark_of_the_front_has_its_budget_in_its_agents_colour(
    counts: list[list[int]],
) -> None:
    held = {f"agent-{number}": row for number, row in enumerate(counts)}
    with tempfile.TemporaryDirectory() as folder:
        inputs = write(World(held, n=24), Path(folder)).read("pareto")
    with style.house_style():
        figure = build(inputs)
    assert "always at marks on the dashed line" in said(figure)
    looks = style.coloured(inputs.agents, None)
    written = [(text.get_text(), text.get_color()) for text in figure.texts]
    for point in front(points(inputs)):
        assert (inputs.rungs[point.rung].label, looks[point.agent].text) in written


def test_budgets_are_listed_or_given_by_their_ends() -> None:
    caps = ["1", "2", "4", "8", "no cap"]
    assert budgets(caps, [2]) == "4"
    assert budgets(caps, [0, 1]) == "1, 2"
    assert budgets(caps, [0, 1, 2, 3]) == "1-8"
    assert budgets(caps, [0, 2, 3]) == "1, 4, 8"
    assert budgets(caps, [1, 2, 3, 4]) == "2-8, no cap"


def test_pale_agents_of_the_front_are_named_in_the_note(draw: Draw) -> None:
    counts = {f"agent-{number:02d}": [10, 10, 10, 10] for number in range(24)} | {
        "best": [20, 30, 40, 45]
    }
    world = World(counts, edit_view=lambda view: view.update(focus=["agent-00"]))
    figure, _ = draw(world, "pareto")
    assert "Pale, without bars: the other 24 agents, on the front best (1-8)." in said(figure)


def test_names_never_stand_nearer_to_another_agents_mark(draw: Draw) -> None:
    counts = {f"agent-{i}": [(7 * i * (k + 2)) % 48 for k in range(5)] for i in range(6)}
    figure, inputs = draw(World(counts, caps=(1, 2, 4, 8, 16)), "pareto")
    looks = style.coloured(inputs.agents, None)
    axes = figure.axes[0]
    box, height = axes.get_position(), figure.get_figheight()
    at = {
        agent: [
            (box.x0 * style.WIDTH + x, height * (box.y0 + box.height * (y + 0.015) / 1.03))
            for x, y in zip(*held, strict=True)
        ]
        for agent, held in drawn(figure).items()
    }

    def distance(agent: str, place: Bbox) -> float:
        return min(
            np.hypot(max(place.x0 - x, x - place.x1, 0), max(place.y0 - y, y - place.y1, 0))
            for x, y in at[agent]
        )

    seen = set()
    for text, pixels in boxes(figure):
        place = Bbox(pixels.get_points() / figure.dpi)
        inside = place.y0 < (box.y0 + box.height) * height and place.x1 < box.x1 * style.WIDTH
        if text in looks and inside:
            seen.add(text)
            others = [distance(agent, place) for agent in looks if agent != text]
            assert distance(text, place) < min(others)
    assert seen


def test_names_at_the_right_have_room_between_them(draw: Draw) -> None:
    long = [
        "an-agent-with-a-name-of-sixty-letters-that-goes-on-and-on-no" + str(i) for i in range(6)
    ]
    figure, _ = draw(World({name: [20] * 4 for name in long}), "pareto")
    place, inch = figure.axes[0].get_position(), figure.dpi
    right, whole = place.x1 * style.WIDTH * inch, figure.get_figheight() * inch
    top, bottom = place.y1 * whole, place.y0 * whole
    held = sorted(
        (box.y0, box.y1) for _, box in boxes(figure) if box.x0 > right and box.y0 < top + inch / 4
    )
    gaps = [above - below for (_, below), (above, _) in pairwise(held)]
    assert sum(gap > 0.035 * inch for gap in gaps) >= 3, "a gap before each name"
    # The panel grew with them: six names of five lines are higher than it is by itself.
    assert bottom - 20 < held[0][0]
    assert held[-1][1] < top + 20


def imported(controls: dict[str, Any]) -> None:
    controls["source"] = {
        **{"axis": "cost", "unit": "USD", "formats": ["plain"], "file_count": 1, "notices": []},
        **{"material": {"files_sha256": "0" * 64}, "controls_known": [], "own_limit": None},
        "controls_not_stated": [],
    }


def test_cut_curves_are_dashed_and_the_front_is_whole(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, edit_controls=imported), "pareto")
    styles = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    assert styles["front"].get_linestyle() == "-"
    assert sum(line.is_dashed() for line in figure.axes[0].get_lines()) == 3
    assert "Stepped line: the best rate" in said(figure)
    enforced, _ = draw(World(COUNTS), "pareto")
    assert sum(line.is_dashed() for line in enforced.axes[0].get_lines()) == 1
    assert "Dashed: the best rate" in said(enforced)


def test_a_cut_run_leaves_its_point_out_of_the_spend(draw: Draw) -> None:
    """The mean of those that ended before the cut is that of survivors; it stood on the front."""
    _, inputs = draw(World(COUNTS, edit_controls=imported), "pareto")
    names = [rung.name for rung in inputs.rungs]
    cut = {
        place: row | ({"tokens_missing": 1} if place in (("repair", names[0]), *some) else {})
        for some in [[("resample", name) for name in names]]
        for place, row in inputs.points.items()
    }
    inputs = dataclasses.replace(inputs, points=cut)
    drawn = [(point.agent, names[point.rung]) for point in points(inputs)]
    assert drawn == [place for place, row in cut.items() if not row["tokens_missing"]]
    with style.house_style():
        told = said(build(inputs))
    assert "Not drawn, not all tokens up to a cut are told: resample." in told
    assert "Not drawn at every cut, not all tokens up to a cut are told: repair." in told
    assert "in no mean" not in told


def test_agents_without_tokens_are_named(draw: Draw) -> None:
    world = World(COUNTS, tokens=lambda agent, cap: None if agent == "repair" else 10.0 * cap)
    figure, inputs = draw(world, "pareto")
    assert {point.agent for point in points(inputs)} == {"oneshot", "resample"}
    assert "Not drawn, tokens not reported: repair." in words(figure).replace("\n", " ")


def test_some_budgets_without_tokens(draw: Draw) -> None:
    def tokens(agent: str, cap: int) -> float | None:
        return None if agent == "repair" and cap > 2 else 10.0 * cap

    figure, _ = draw(World(COUNTS, tokens=tokens), "pareto")
    assert "Not drawn under every budget, tokens not reported: repair." in said(figure)
    assert "96 cells report no tokens" in said(figure)


def test_nobody_reports_tokens(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, tokens=lambda agent, cap: None), "pareto")
    assert "No agent has a place: tokens not reported." in words(figure)
    assert not figure.axes[0].axison, "an axis without data has no numbers"


def test_zero_tokens_have_a_place(draw: Draw) -> None:
    world = World(COUNTS, tokens=lambda agent, cap: 0.0 if agent == "oneshot" else 10.0 * cap)
    figure, _ = draw(world, "pareto")
    (marks,) = (line for line in figure.axes[0].get_lines() if line.get_label() == "oneshot")
    low, _ = figure.axes[0].get_xlim()
    assert low < marks.get_xdata()[0] < np.log2(10)
    assert "0 has no place on the scale" in words(figure).replace("\n", " ")


def test_every_agent_is_named(draw: Draw) -> None:
    counts = {f"agent-{i}": [10, 10, 10, 10] for i in range(6)}
    figure, _ = draw(World(counts), "pareto")
    panel = words(figure).split("FROZEN")[1].split("Weighted")[1]
    for agent in counts:
        assert agent in panel


def test_lines_and_labels_of_several_budgets_are_explained(draw: Draw) -> None:
    steady = World({"steady": [14] * 4, "rising": [2, 9, 20, 30]}, tokens=_steady)
    figure, _ = draw(steady, "pareto")
    assert "(1-8: these budgets coincide)" in said(figure)
    assert "Solid lines join the budgets of one agent." in said(figure)
    apart, _ = draw(World({"one": [1, 9, 20, 30], "two": [2, 8, 21, 40]}), "pareto")
    assert "coincide" not in said(apart)


def _steady(agent: str, cap: int) -> float:
    return 300.0 if agent == "steady" else 300.0 * cap


@pytest.mark.parametrize(
    ("limits", "told"),
    [({}, "9 USD"), ({"cost": 9}, "9 USD (of the config)"), ({"calls": 9}, "9 USD")],
)
def test_a_limit_that_no_log_told_is_said_to_be_of_the_config(
    draw: Draw, limits: dict[str, int], told: str
) -> None:
    def edit(controls: dict[str, Any]) -> None:
        imported(controls)
        controls["source"] |= {"own_limit": "9"}
        controls["source"]["material"]["source"] = {"limits": limits}

    figure, _ = draw(World(COUNTS, edit_controls=edit), "pareto")
    assert told in words(figure).split("\n")
