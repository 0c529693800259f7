from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.pareto import Point, front, points
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from read_figure import words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]
COUNTS = {"oneshot": [14, 14, 14, 48], "resample": [12, 18, 20, 24], "repair": [0, 17, 23, 26]}

clouds = st.lists(
    st.builds(
        Point,
        st.sampled_from(["one", "two"]),
        st.just("1"),
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


def test_marks_are_means_of_what_was_spent(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS, tokens=lambda agent, cap: 100.0 * cap), "pareto")
    assert [(point.budget, point.tokens) for point in points(inputs)[:4]] == [
        ("1", 100),
        ("2", 200),
        ("4", 400),
        ("8", 800),
    ]
    (marks,) = (line for line in figure.axes[0].get_lines() if line.get_label() == "resample")
    assert marks.get_xdata() == pytest.approx(np.log2([100, 200, 400, 800]))
    assert marks.get_ydata() == pytest.approx(np.array(COUNTS["resample"]) / 48)
    said = words(figure)
    assert "Mean tokens spent per run (log₂ scale)" in said
    assert "Spend is an outcome" in said


def test_agents_without_tokens_are_named(draw: Draw) -> None:
    world = World(COUNTS, tokens=lambda agent, cap: None if agent == "repair" else 10.0 * cap)
    figure, inputs = draw(world, "pareto")
    assert {point.agent for point in points(inputs)} == {"oneshot", "resample"}
    assert "Not drawn, tokens not reported: repair." in words(figure).replace("\n", " ")


def test_some_budgets_without_tokens(draw: Draw) -> None:
    def tokens(agent: str, cap: int) -> float | None:
        return None if agent == "repair" and cap > 2 else 10.0 * cap

    figure, _ = draw(World(COUNTS, tokens=tokens), "pareto")
    said = words(figure).replace("\n", " ")
    assert "Not drawn under every budget, tokens not reported: repair." in said
    assert "96 cells report no tokens" in said


def test_nobody_reports_tokens(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, tokens=lambda agent, cap: None), "pareto")
    assert "No agent reports its tokens." in words(figure)


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
    said = words(figure).split("FROZEN")[1].split("Weighted")[1]
    for agent in counts:
        assert agent in said
