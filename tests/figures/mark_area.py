"""How much of a mark lies under another one, by sampling the markers' own shapes."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from frozenbench.figures.style import Look
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D


@cache
def outline(marker: str, size: float) -> Path:
    """Return a marker's shape around its centre, inches; `size` in points."""
    held = MarkerStyle(marker)
    scaled = held.get_transform() + Affine2D().scale(size / 72)
    return held.get_path().transformed(scaled)


@cache
def samples(marker: str, size: float) -> npt.NDArray[np.float64]:
    """Return points inside a marker, evenly spread, inches."""
    side = np.linspace(-size / 72, size / 72, 61)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    found: npt.NDArray[np.float64] = grid[outline(marker, size).contains_points(grid)]
    return found


def hidden(below: Look, above: Look, across: float, down: float, size: float = 1.0) -> float:
    """Return the share of `below` that `above` covers, `across` and `down` inches from it."""
    points = samples(below.marker, below.size * size) - np.array([across, down])
    return float(outline(above.marker, above.size * size).contains_points(points).mean())
