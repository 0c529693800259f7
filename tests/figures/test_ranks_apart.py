"""The panel of ranks: no agent's mark or interval lies on another's, and ties are seen as ties."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from frozenbench.figures import marks, style
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.rank_places import MARKER, RankPlaces, place_ranks, rank_limits
from frozenbench.figures.scale import make_scale
from hypothesis import given, settings
from hypothesis import strategies as st
from mark_area import hidden
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from read_figure import words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]


def placed(inputs: Inputs, width: float = 5.2) -> tuple[marks.Panel, RankPlaces]:
    """Return a panel of ranks and where its marks stand."""
    looks = style.coloured(inputs.agents, None)
    scale = make_scale(inputs.rungs, width, marks.group_width(len(looks)))
    limits = rank_limits(len(inputs.agents))
    panel = marks.add_panel(style.new_figure(4), scale, (1, 1, width, 1.3), limits)
    return panel, place_ranks(panel, inputs, looks)


def bars(inputs: Inputs) -> list[list[float]]:
    """Return where the agents' bars stand, inches, by budget."""
    panel, found = placed(inputs)
    return [
        [panel.x(spot[0]) for agent in inputs.agents if (spot := found.spots[agent][rung])]
        for rung in range(len(inputs.rungs))
    ]


def closest(xs: list[float]) -> float:
    return min((abs(a - b) for a, b in combinations(xs, 2)), default=1.0)


def test_one_that_leads_stands_beside_two_that_are_tied(draw: Draw) -> None:
    """The bar of the first of the config, alone in rank 1, stood on that of the first tied one."""
    _, inputs = draw(World({"oneshot": [6, 6], "resample": [4, 9], "repair": [4, 4]}, caps=(1, 2)))
    assert closest(bars(inputs)[0]) > 0.02


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=6))
def test_no_two_bars_of_a_budget_lie_on_each_other(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]]
) -> None:
    from synthetic_view import write

    world = World({f"agent-{number}": held for number, held in enumerate(counts)}, n=3)
    inputs = write(world, tmp_path_factory.mktemp("view")).read("budget_curves")
    assert min(map(closest, bars(inputs))) > 0.02


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=6))
def test_no_mark_hides_another_and_tied_ones_stay_at_their_rank(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]]
) -> None:
    from synthetic_view import write

    world = World({f"agent-{number}": held for number, held in enumerate(counts)}, n=3)
    inputs = write(world, tmp_path_factory.mktemp("view")).read("budget_curves")
    panel, found = placed(inputs)
    looks = style.coloured(inputs.agents, None)
    pitch = panel.height / (len(inputs.agents) if len(inputs.agents) > 1 else 2)
    for rung in range(4):
        for agent in inputs.agents:
            spot, rank = found.spots[agent][rung], inputs.series(agent, "rank")[rung]
            assert spot is not None
            assert rank is not None
            assert abs(spot[1] - rank) <= 0.3 + 1e-9
        for one, other in combinations(inputs.agents, 2):
            (x, y), (u, v) = found.spots[one][rung] or (0, 0), found.spots[other][rung] or (0, 0)
            across, down = panel.x(u) - panel.x(x), (y - v) * pitch
            scale = found.size * MARKER / 5.2
            assert hidden(looks[one], looks[other], across, down, scale) <= 0.2


def groups(figure: Figure) -> list[str]:
    return [
        str(patch.get_label()).removeprefix("tied ")
        for patch in figure.axes[2].patches
        if isinstance(patch, FancyBboxPatch)
    ]


def test_agents_that_share_a_rank_stand_in_one_pill(draw: Draw) -> None:
    figure, _ = draw(World({"oneshot": [6, 6], "resample": [4, 9], "repair": [4, 4]}, caps=(1, 2)))
    assert groups(figure) == ["resample repair"]
    assert "ties share the better rank (grey pill)" in words(figure)
    apart, _ = draw(World({"one": [1, 2], "two": [3, 4]}, caps=(1, 2)))
    assert groups(apart) == []


def test_above_in_a_tie_is_who_ranks_better_around_it(draw: Draw) -> None:
    """In the order of the config the two lines crossed before and after a tie: twice nothing."""
    _, inputs = draw(World({"worse": [4, 9, 4], "better": [8, 9, 8]}, caps=(1, 2, 4)))
    _, found = placed(inputs)
    better, worse = (found.spots[agent][1] for agent in ("better", "worse"))
    assert better is not None
    assert worse is not None
    assert better[1] < 1 < worse[1]


def test_the_line_of_a_tied_agent_passes_clear_of_the_other_mark(draw: Draw) -> None:
    _, inputs = draw(World({"oneshot": [6, 6], "resample": [4, 9], "repair": [4, 4]}, caps=(1, 2)))
    panel, found = placed(inputs)
    one, other = (found.spots[agent][0] for agent in ("resample", "repair"))
    assert one is not None
    assert other is not None
    assert abs(panel.y(one[1]) - panel.y(other[1])) > MARKER / 72


def test_a_coloured_mark_covers_no_pale_one_of_its_rank(draw: Draw) -> None:
    counts = {f"agent-{number}": [5 + number, 5 + number] for number in range(9)}
    counts |= {"agent-6": [5, 40], "agent-7": [5, 41]}  # tied with agent-0 under the first budget
    focus = ["agent-0", "agent-1"]
    world = World(counts, caps=(1, 2), edit_view=lambda view: view.update(focus=focus))
    figure, _ = draw(world)
    assert [set(group.split()) for group in groups(figure)] == [{"agent-0", "agent-6", "agent-7"}]
    lines = {str(line.get_label()): line for line in figure.axes[2].get_lines()}
    first = {name: lines[name].get_xydata()[0] for name in counts}
    assert first["agent-6"] == pytest.approx(first["agent-7"]), "pale ones share one place"
    one, other = (figure.axes[2].transData.transform(first[f"agent-{i}"]) for i in (0, 6))
    apart = float(abs(one - other).max()) / figure.dpi
    assert apart > (MARKER + style.REST.size / 2) / 2 / 72
    assert abs(first["agent-6"][1] - 7) <= 0.3 + 1e-9
