"""What stands in a figure, and where."""

from __future__ import annotations

from frozenbench.figures import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every text with the pixels that it covers."""
    canvas = FigureCanvasAgg(figure)
    with style.house_style():
        canvas.draw()
        renderer = canvas.get_renderer()
        return [(text.get_text(), text.get_window_extent(renderer)) for text in style.texts(figure)]


def words(figure: Figure) -> str:
    """Return all that is written, line by line in reading order."""
    found = sorted(
        ((-box.y1, box.x0, text) for text, box in boxes(figure)), key=lambda item: item[:2]
    )
    return "\n".join(text for _, _, text in found)
