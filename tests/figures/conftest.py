"""What the tests of figures share: a view on disk, and a figure of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frozenbench.draw_figure import build
from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs
from matplotlib.figure import Figure
from synthetic_view import Files, World, write


@pytest.fixture
def write_view(tmp_path: Path) -> Callable[[World], Files]:
    """Write a world into a folder of its own."""
    made: list[World] = []

    def make(world: World) -> Files:
        made.append(world)
        return write(world, tmp_path / f"world-{len(made)}")

    return make


@pytest.fixture
def draw(write_view: Callable[[World], Files]) -> Callable[..., tuple[Figure, Inputs]]:
    """Build a figure of a world, without rendering it."""

    def make(world: World, figure: str = "budget_curves") -> tuple[Figure, Inputs]:
        inputs = write_view(world).read(figure)
        with style.house_style():
            return build(inputs), inputs

    return make
