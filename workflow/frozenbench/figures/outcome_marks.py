"""The colours and hatches of the five outcomes, and the legend that names them."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from frozenbench.figures import style

#: Bottom to top: outcome, column, colour. Smallest simulated distance 17.5.
STACK = (
    ("PASS", "pass_rate", "#00568A"),
    ("FAIL_TEST", "fail_test_rate", "#C3C8CE"),
    ("FAIL_ASSUME", "assume_rate", "#CF6A8E"),
    ("EXHAUSTED", "exhaust_rate", "#F6DC9E"),
    ("ERROR", "error_rate", "#111111"),
)
#: What the five mean, for a reader who has the picture alone.
MEANINGS = (
    "PASS: the tests pass inside the budget. FAIL_TEST: the agent stopped by itself, and they do "
    "not. FAIL_ASSUME: a banned string or name, or an invented one. EXHAUSTED: a cap was hit, and "
    "the tests do not pass. ERROR: the machinery failed."
)
#: Outcome -> hatch and its colour, so that pale ones stay apart in grey.
HATCHES: Mapping[str, tuple[str, str]] = {"EXHAUSTED": ("////", "#8F6300")}


def draw_legend(
    figure: Figure, top: float, hatches: Mapping[str, tuple[str, str]] = HATCHES
) -> None:
    """Name the outcomes in stacking order; labels inside slivers would not fit."""
    left, height = style.LEFT, figure.get_figheight()
    for name, _, colour in STACK:
        box = (left / style.WIDTH, 1 - (top + 0.1) / height)
        size = (0.12 / style.WIDTH, 0.1 / height)
        looks: list[dict[str, str]] = [{"facecolor": colour}]
        if name in hatches:
            hatch, ink = hatches[name]
            # Denser than in a bar, because the box is small.
            looks.append({"facecolor": "none", "edgecolor": ink, "hatch": hatch + hatch[:2]})
        for look in looks:
            figure.add_artist(
                Rectangle(box, *size, transform=figure.transFigure, linewidth=0, **look)  # type: ignore[arg-type]
            )
        style.put(figure, left + 0.17, top + 0.093, name, style.AXIS, va="baseline")
        left += 0.17 + style.width_of(name, style.AXIS) + 0.28
