"""The panel of ranks: no agent's mark or interval lies on another's, tied or not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from frozenbench.figures import marks, ranks, style
from frozenbench.figures.inputs import Inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]


def bars(inputs: Inputs, width: float = 5.2) -> list[list[float]]:
    """Return where the agents' bars stand, inches, by budget."""
    looks = style.coloured(inputs.agents, None)
    scale = marks.make_scale(inputs.rungs)
    limits = ranks.rank_limits(len(inputs.agents))
    panel = marks.add_panel(style.new_figure(4), scale, (1, 1, width, 1.3), limits)
    places = ranks.mark_places(panel, inputs, looks)
    return [
        [panel.x(spot[0]) for agent in looks if (spot := places[agent][rung]) is not None]
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
