"""The house style: sizes, colours, fonts, and the bytes of a drawn figure.

No state outlives `house_style()`: pyplot is never imported, and what a user's matplotlibrc says
does not count. All files of one figure have the same bytes on every call.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from frozenbench.canonical import BadInput

#: Canvas width and the edges of what is drawn on it, inches from the left.
WIDTH, LEFT, RIGHT = 7.2, 0.54, 7.02

INK, MUTED, RULE = "#1A1A1A", "#5F6368", "#D9DCE0"
BOX, SPAN, PALE = "#F4F5F7", "#FFF3D6", "#C9CDD2"

# Sizes in points.
TITLE, SUBTITLE, PANEL, AXIS, END_LABEL = 10.5, 7.5, 8.5, 7.5, 7.5
NOTE, HEADER, CAPTION, FOOTER, PALE_LABEL = 6.2, 6.2, 6.0, 5.6, 6.2

#: More agents than this are not told apart by colour; then at most FOCUSED of them are coloured.
MOST_COLOURED, FOCUSED = 6, 4


@dataclass(frozen=True)
class Look:
    """How one agent is drawn: colours of marks and text, marker and its size in points."""

    mark: str
    text: str
    marker: str
    size: float = 5.2


#: By place in the config. Smallest distance of the first four 26.4 in CAM02-UCS over normal and
#: colour-blind vision; the last two marks are below 3:1 on white, hence shapes and dark labels.
LOOKS = (
    Look("#00568A", "#00568A", "o"),
    Look("#D55E00", "#B04D00", "s", 4.8),
    Look("#2B2B2B", "#2B2B2B", "^"),
    Look("#4A9EDB", "#1D75A8", "D", 4.6),
    Look("#7A7A7A", "#5F6368", "v"),
    Look("#E69F00", "#8F6300", "P", 6.2),
)
REST = Look(PALE, MUTED, ".", 3.6)

_RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": AXIS,
    "text.color": INK,
    "text.parse_math": False,
    "text.hinting": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.labelsize": AXIS,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": AXIS,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": AXIS,
    "ytick.major.size": 0,
    "hatch.linewidth": 0.5,
    "path.simplify": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "frozenbench",
    "figure.dpi": 300,
    "savefig.dpi": 300,
}

#: No date, no program, no version: a picture's bytes are those of its data.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
}
#: Where each format holds what the picture is of.
_ABOUT = {"pdf": "Subject", "svg": "Description", "png": "Description"}
FORMATS = tuple(_METADATA)


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style inside the block; everything is as before after it."""
    with matplotlib.rc_context():
        # Defaults first: a matplotlibrc of the machine must not show in a figure.
        parameters: Any = matplotlib.rcParams
        defaults: Any = matplotlib.rcParamsDefault
        parameters.update({key: defaults[key] for key in defaults if key != "backend"} | _RC)
        yield


def new_figure(height: float) -> Figure:
    """Return an empty figure of the house width, `height` in inches."""
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasAgg(figure)
    return figure


def axes_at(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes; all in inches, `left` and `top` from the figure's upper left corner."""
    whole = figure.get_figheight()
    box = (left / WIDTH, 1 - (top + height) / whole, width / WIDTH, height / whole)
    axes = figure.add_axes(box)
    axes.grid(axis="y", color=RULE, linewidth=0.5)
    return axes


def put(figure: Figure, x: float, y: float, text: str, size: float, **how: Any) -> Text:
    """Put text with its upper left corner at (x, y) inches from the upper left corner."""
    how.setdefault("va", "top")
    how.setdefault("ha", "left")
    if how.pop("mono", False):
        how["family"] = "DejaVu Sans Mono"
    return figure.text(x / WIDTH, 1 - y / figure.get_figheight(), text, fontsize=size, **how)


def rule(
    figure: Figure, left: float, right: float, y: float, color: str = RULE, ends: str = ""
) -> None:
    """Draw a thin level line, inches from the upper left corner, with markers `ends`."""
    height = 1 - y / figure.get_figheight()
    figure.add_artist(
        Line2D(
            [left / WIDTH, right / WIDTH],
            [height, height],
            color=color,
            linewidth=0.5,
            marker=ends,
            markersize=4,
            markeredgewidth=0.5,
            transform=figure.transFigure,
        )
    )


def leader(
    figure: Figure, start: tuple[float, float], end: tuple[float, float], color: str = RULE
) -> None:
    """Join a curve's end with its label, behind everything else; inches."""
    height = figure.get_figheight()
    figure.add_artist(
        Line2D(
            [start[0] / WIDTH, end[0] / WIDTH],
            [1 - start[1] / height, 1 - end[1] / height],
            color=color,
            linewidth=0.6,
            alpha=1 if color == RULE else 0.6,
            transform=figure.transFigure,
            zorder=-2,
        )
    )


def glyph(figure: Figure, centre: tuple[float, float], look: Look) -> None:
    """Draw an agent's marker beside its name; inches."""
    figure.add_artist(
        Line2D(
            [centre[0] / WIDTH],
            [1 - centre[1] / figure.get_figheight()],
            linestyle="none",
            color=look.mark,
            marker=look.marker,
            markersize=look.size,
            markeredgewidth=0,
            transform=figure.transFigure,
        )
    )


@lru_cache(maxsize=1 << 14)
def width_of(text: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Return the width of one line of text in inches, from the font's own metrics.

    Raises:
        BadInput: the font cannot show a character.
    """
    found = _properties(size, bold, mono)
    _require_glyphs(text, found)
    wide, _, _ = text_to_path.get_text_width_height_descent(text, found, ismath=False)
    return float(wide) / 72


@lru_cache(maxsize=64)
def _properties(size: float, bold: bool, mono: bool) -> FontProperties:
    family = "DejaVu Sans Mono" if mono else "DejaVu Sans"
    return FontProperties(family=family, size=size, weight="bold" if bold else "normal")


def coloured(agents: Sequence[str], focus: Sequence[str] | None) -> dict[str, Look]:
    """Return the look of each agent that has a colour, by its place in the config.

    Up to six agents all have one, whatever `focus` says. Of more, those of `focus` have (`Inputs.focus`
    holds the rule where the config names none), or the first four where it is None.

    Raises:
        BadInput: `focus` names more than four agents, or one that is not there.
    """
    chosen = agents[:FOCUSED] if focus is None else focus
    for name in chosen:
        if name not in agents:
            raise BadInput(
                f"view.json: focus: {name!r} is no agent of this experiment; cure: any of "
                + ", ".join(agents)
            )
    if len(agents) <= MOST_COLOURED:
        return dict(zip(agents, LOOKS, strict=False))
    if len(set(chosen)) > FOCUSED:
        raise BadInput(
            f"view.json: focus: names {len(set(chosen))} agents, and more than {FOCUSED} colours "
            f"among many lines are not told apart; cure: name at most {FOCUSED}"
        )
    return dict(zip([name for name in agents if name in chosen], LOOKS, strict=False))


def render(figure: Figure, about: str) -> dict[str, bytes]:
    """Return the figure's files, format -> bytes; call it inside `house_style()`.

    `about` names experiment and controls in each file's metadata: letters there are read by programs.

    Raises:
        BadInput: a text holds a character that the font cannot show.
    """
    for text in texts(figure):
        _require_glyphs(text.get_text(), text.get_fontproperties())
    files: dict[str, bytes] = {}
    for kind in FORMATS:
        sink = io.BytesIO()
        figure.savefig(sink, format=kind, metadata=_METADATA[kind] | {_ABOUT[kind]: about})
        files[kind] = sink.getvalue()
    return files


def texts(figure: Figure) -> list[Text]:
    """Return every visible text with content."""
    found = [item for item in figure.findobj(Text) if isinstance(item, Text)]
    return [item for item in found if item.get_visible() and item.get_text().strip()]


def _require_glyphs(text: str, properties: FontProperties) -> None:
    font = get_font(findfont(properties))
    for letter in text:
        if letter != "\n" and not font.get_char_index(ord(letter)):
            raise BadInput(
                f"figure: {text!r} holds {letter!r}, which DejaVu Sans cannot show; "
                "a picture never shows an empty box in its place; cure: another title or name (of "
                "imported agents by source.names)"
            )
