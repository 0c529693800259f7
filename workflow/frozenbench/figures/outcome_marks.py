"""The colours and hatches of the five outcomes, and the legend that names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs

#: Bottom to top: outcome, column, colour. Smallest simulated distance 17.5.
STACK = (
    ("PASS", "pass_rate", "#00568A"),
    ("FAIL_TEST", "fail_test_rate", "#C3C8CE"),
    ("FAIL_ASSUME", "assume_rate", "#CF6A8E"),
    ("EXHAUSTED", "exhaust_rate", "#F6DC9E"),
    ("ERROR", "error_rate", "#111111"),
)
#: What makes an imported run EXHAUSTED besides its use.
LOG_ENDING = "the log’s own ending says that a budget ran out"
#: Outcome -> hatch and its colour, so that pale ones stay apart in grey.
HATCHES: Mapping[str, tuple[str, str]] = {
    "EXHAUSTED": ("////", "#8F6300"),
    "ERROR": ("xxxx", "#FFFFFF"),
}


def exhausted(inputs: Inputs) -> str:
    """Return what EXHAUSTED means for these runs, in a few words."""
    if inputs.imported:
        return "its run used more than the cut, and counts as not passed"
    return "stopped by a cap while it wanted more, and the tests do not pass"


def meanings(inputs: Inputs) -> str:
    """Return what the five mean, for a reader who has the picture alone."""
    also = f", or {LOG_ENDING}" if inputs.imported else ""
    return (
        "PASS: the tests pass inside the budget. FAIL_TEST: the agent stopped by itself, and they "
        "do not. FAIL_ASSUME: it used a banned string or name, or stopped with one that does not "
        "exist. EXHAUSTED: "
        f"{exhausted(inputs)}{also}. ERROR: the machinery failed."
    )


def unknown(inputs: Inputs) -> list[str]:
    """Return the outcomes that cannot be told for some cells."""
    return [
        name
        for name, column, _ in STACK
        if any(None in inputs.series(agent, column) for agent in inputs.agents)
    ]


def draw_legend(
    figure: Figure,
    top: float,
    absent: Collection[str],
    untold: Collection[str] = (),
) -> None:
    """Name the outcomes in stacking order; labels inside slivers would not fit.

    `absent` ones occur in no cell that is drawn, and `untold` ones cannot be told: that is said.
    """
    left, height = style.LEFT, figure.get_figheight()
    for name, _, colour in STACK:
        box = (left / style.WIDTH, 1 - (top + 0.1) / height)
        size = (0.12 / style.WIDTH, 0.1 / height)
        looks: list[dict[str, str]] = [{"facecolor": colour}]
        if name in HATCHES:
            hatch, ink = HATCHES[name]
            # Denser than in a bar, because the box is small.
            looks.append({"facecolor": "none", "edgecolor": ink, "hatch": hatch + hatch[:2]})
        for look in looks:
            figure.add_artist(
                Rectangle(box, *size, transform=figure.transFigure, linewidth=0, **look)  # type: ignore[arg-type]
            )
        left += 0.17
        style.put(figure, left, top + 0.093, name, style.AXIS, va="baseline")
        left += style.width_of(name, style.AXIS)
        remark = "not known" if name in untold else "none" if name in absent else ""
        if remark:
            left += 0.05
            style.put(
                figure, left, top + 0.093, remark, style.NOTE, color=style.MUTED, va="baseline"
            )
            left += style.width_of(remark, style.NOTE)
        left += 0.26
