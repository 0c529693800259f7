from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from frozenbench.figures.inputs import Inputs
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from read_figure import boxes, words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]
ORDER = ["PASS", "FAIL_TEST", "FAIL_ASSUME", "EXHAUSTED", "ERROR"]
COUNTS = {"oneshot": [14, 14, 14, 48], "resample": [12, 18, 20, 24], "repair": [0, 17, 23, 26]}


def stacks(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Return bottom and height of each bar by outcome."""
    return {
        str(held.get_label()): [(bar.get_y(), bar.get_height()) for bar in held]
        for held in axes.containers
        if held.get_label() in ORDER
    }


def test_every_cell_is_in_the_bar(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS, other=(0.3, 0.2, 0.1)), "outcomes")
    assert len(figure.axes) == 3
    for agent, axes in zip(COUNTS, figure.axes, strict=True):
        held = stacks(axes)
        assert list(held) == ORDER
        for rung, place in zip(inputs.rungs, range(4), strict=True):
            row = inputs.points[agent, rung.name]
            assert held["PASS"][place] == (0, pytest.approx(row["pass_rate"]))
            assert held["ERROR"][place][1] == pytest.approx(row["error_rate"])
            tops = [sum(held[name][place]) for name in ORDER]
            assert tops == sorted(tops)
            assert tops[-1] == pytest.approx(1)


def test_a_rare_error_is_still_seen(draw: Draw) -> None:
    figure, _ = draw(World({"one": [400]}, caps=(1,), n=1000, other=(0, 0, 0.002)), "outcomes")
    (errors,) = (held for held in figure.axes[0].containers if held.get_label() == "ERROR")
    (bar,) = errors
    assert bar.get_height() == pytest.approx(0.001)
    assert np.allclose(bar.get_edgecolor(), bar.get_facecolor())
    assert bar.get_linewidth() > 0


def test_values_and_legend(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS), "outcomes")
    said = words(figure)
    assert "Share of cells by outcome, not weighted." in said
    for value in ("29.2", "100", "25.0", "37.5", "41.7", "50.0", "35.4", "47.9", "54.2"):
        assert value in said.split("\n")
    assert "0" not in said.split("\n")
    assert (
        "EXHAUSTED: stopped by a cap while it wanted more, and the tests do not pass."
        in " ".join(said.split())
    )
    legend = [(box.x0, text) for text, box in boxes(figure) if text in ORDER]
    assert [text for _, text in sorted(legend)] == ORDER


def test_what_a_log_cannot_tell_is_said(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    import synthetic_view

    plain = synthetic_view._summary

    def unknown(world: World, drawn: str) -> list[dict[str, object]]:
        return [row | {"assume_rate": None} for row in plain(world, drawn)]

    monkeypatch.setattr(synthetic_view, "_summary", unknown)
    figure, _ = draw(World(COUNTS), "outcomes")
    assert "Not known for some cells, and drawn as nothing: FAIL_ASSUME." in words(figure)
    assert "not known" in words(figure).split("\n")


def test_the_denominator_is_said(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS), "outcomes")
    assert "Each bar: 48 cells (48 tasks × 1 repeat)" in words(figure)

    def fewer(controls: dict[str, object]) -> None:
        controls["repeats"] = 2

    figure, _ = draw(World(COUNTS, edit_controls=fewer), "outcomes")
    assert "Each bar: 48 cells;" in words(figure), "half of the cells are missing"


def test_unequal_denominators_are_said(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    import synthetic_view

    plain = synthetic_view._summary

    def fewer(world: World, drawn: str) -> list[dict[str, object]]:
        return [row | {"n": 40 + place % 2} for place, row in enumerate(plain(world, drawn))]

    monkeypatch.setattr(synthetic_view, "_summary", fewer)
    figure, _ = draw(World(COUNTS), "outcomes")
    assert "Each bar: 40 to 41 cells (see summary.csv)" in words(figure)


@pytest.mark.parametrize("name", ["outcomes", "task_grid"])
def test_the_legend_says_which_outcomes_never_came(draw: Draw, name: str) -> None:
    figure, _ = draw(World(COUNTS, other=(0.5, 0, 0)), name)
    right_of = {"FAIL_ASSUME": "none", "ERROR": "none"}
    held = boxes(figure)
    for outcome in ORDER:
        (box,) = (box for text, box in held if text == outcome)
        near = [
            text
            for text, other in held
            if 0 < other.x0 - box.x1 < 40 and abs(other.y0 - box.y0) < 20
        ]
        assert near == ([right_of[outcome]] if outcome in right_of else [])


def test_title_of_the_view_leads(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, edit_view=lambda view: view.update(title="Mine")), "outcomes")
    assert words(figure).startswith("Mine: what happened to every cell")


@pytest.mark.parametrize(("agents", "rows"), [(1, 1), (4, 1), (5, 2), (6, 2), (9, 2), (25, 5)])
def test_small_multiples_in_even_rows(draw: Draw, agents: int, rows: int) -> None:
    figure, _ = draw(World({f"a{i}": [i] * 4 for i in range(agents)}), "outcomes")
    tops = [round(axes.get_position().y1, 6) for axes in figure.axes]
    assert len(tops) == agents
    assert len(set(tops)) == rows
    assert tops == sorted(tops, reverse=True)


def test_thirty_budgets_do_not_cover_each_others_labels(draw: Draw) -> None:
    caps = tuple(range(1, 31))
    figure, _ = draw(World({f"a{i}": [i + 1] * 30 for i in range(5)}, caps=caps), "outcomes")
    ticks = [box for text, box in boxes(figure) if text.isdigit() and int(text) > 9]
    for one, other in combinations(ticks, 2):
        apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
        assert apart
    assert words(figure).split("\n").count("30") == 5, "the last is always labelled"


def test_many_agents_and_budgets_stay_on_a_page(draw: Draw) -> None:
    counts = {f"agent-{number:02d}": [6] * 30 for number in range(25)}
    figure, _ = draw(World(counts, caps=range(1, 31)), "outcomes")
    assert figure.get_figheight() < 14
    assert "Numbers: PASS" not in words(figure), "no bar is wide enough for one"
    few, _ = draw(World(COUNTS), "outcomes")
    assert "Numbers: PASS" in words(few)


def test_narrow_bars_have_whole_numbers_a_half_upwards(draw: Draw) -> None:
    counts = {f"agent-{number}": [6] * 12 for number in range(6)}
    figure, _ = draw(World(counts, caps=range(100, 1300, 100)), "outcomes")
    said = words(figure).split("\n")
    assert "13" in said, "12.5 %"
    assert not {"12.5", "12"} & set(said)
