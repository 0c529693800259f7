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
    """Return all that is written but the ticks of y, line by line in reading order."""
    found = [(-text.get_position()[1], text.get_position()[0], text) for text in figure.texts]
    return "\n".join(text.get_text() for *_, text in sorted(found, key=lambda item: item[:2]))
