"""Rule `draw_figure`: one figure of a view as PDF, SVG and PNG, or the refusal in its place."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from frozenbench.canonical import BadInput
from frozenbench.figures import figure_names
from frozenbench.out_folder import Own, remove_folder, replace_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from frozenbench.figures.inputs import Inputs

REFUSED = "refused.json"


def draw_figure(
    figure: str,
    statistics: Path,
    controls: Path,
    view: Path,
    measured: Path,
    cells: Path,
    out: Path,
) -> None:
    """Draw one figure into the folder `out`: <figure>.pdf, .svg and .png, or refused.json alone.

    The folder is there whole or not at all: an older one is removed first, so that a figure that
    cannot be drawn leaves none. Equal input gives equal bytes.

    Args:
        figure: name of a module of frozenbench.figures.
        statistics: the folder that `contrast` wrote.
        controls, view: control sheets (JSON).
        measured, cells: tables (Parquet).
        out: the folder to write.

    Raises:
        BadInput: no figure has this name, `out` is a folder of another kind, or a file, a column or
            a control is missing.
    """
    if figure not in figure_names():
        raise BadInput(
            f"view.json: figures: {figure!r} is unknown; cure: one of {', '.join(figure_names())}"
        )
    drawn = [f"{figure}.{kind}" for kind in ("svg", "pdf", "png")]
    own = Own((*drawn, REFUSED))
    remove_folder(out, own)
    refused = statistics / REFUSED
    if refused.exists():
        replace_folder(out, {REFUSED: refused.read_bytes()}, own)
        return
    # Here alone: names and refusals need no drawing.
    from frozenbench.figures.inputs import read_inputs
    from frozenbench.figures.style import house_style, render

    inputs = read_inputs(figure, statistics, controls, view, measured, cells)
    with house_style():
        files = render(build(inputs), inputs.about)
    replace_folder(out, {f"{figure}.{kind}": data for kind, data in files.items()}, own)


def build(inputs: Inputs) -> Figure:
    """Return the figure that `inputs` names, not yet rendered; call it inside `house_style()`."""
    module = importlib.import_module(f"frozenbench.figures.{inputs.figure}")
    found: Figure = module.build_figure(inputs)
    return found
