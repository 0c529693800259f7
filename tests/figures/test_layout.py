"""Nothing is cut and no text covers another, whatever the sizes and names."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path as File

import pytest
from frozenbench.draw_figure import build
from frozenbench.figures import figure_names, style
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from read_figure import boxes
from synthetic_view import World, write

#: Close ones too.
CAPS = (1, 2, 3, 4, 8, 9, 10, 100, 1000, 1010, 1020, 128000, 130000)
KINDS = ("confirmed", "suggestive", "unresolved")
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", fullmatch=True)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    agents = draw(st.lists(names, min_size=1, max_size=9, unique_by=str.lower))
    axis = draw(st.sampled_from(["max_tool_calls", "max_tokens"]))
    caps: list[int | None] = sorted(draw(st.sets(st.sampled_from(CAPS), min_size=1)))
    if draw(st.booleans()):
        caps.append(None)
    caps = caps[-8:]
    n = draw(st.sampled_from([3, 24]))
    count = st.integers(0, n)
    counts = {
        name: draw(st.lists(count, min_size=len(caps), max_size=len(caps))) for name in agents
    }
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    return World(
        counts,
        caps=caps,
        n=n,
        axis=axis,
        kind=lambda a, b, before: kinds[(len(a) + 2 * len(b) + before) % len(kinds)],
        tokens=lambda agent, cap: None if len(agent) == 3 else float(len(agent) * cap),
    )


def build_of(world: World, figure: str) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        inputs = write(world, File(folder)).read(figure)
    with style.house_style():
        return build(inputs)


def faults(figure: Figure) -> list[str]:
    """Return what is cut, and which texts cover each other, beyond two pixels of 300 an inch."""
    held = boxes(figure)
    width, height = figure.get_size_inches() * figure.dpi
    found = [
        f"cut: {text!r}"
        for text, box in held
        if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height
    ]
    for (one, first), (other, second) in combinations(held, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        if across > 2 and down > 2:
            found.append(f"{one!r} covers {other!r} by {across:.0f} x {down:.0f} px")
    for line in (item for item in figure.get_children() if isinstance(item, Line2D)):
        ends = line.get_transform().transform(line.get_xydata())
        path = Path(ends)
        for text, box in held:
            inner = Bbox.from_extents(box.x0 + 2, box.y0 + 2, box.x1 - 2, box.y1 - 2)
            if len(ends) == 2 and path.intersects_bbox(inner, filled=False):
                found.append(f"a line crosses {text!r}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("figure", figure_names())
@given(world=worlds())
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_no_text_is_cut_or_covered(figure: str, world: World) -> None:
    assert faults(build_of(world, figure)) == []


@pytest.mark.slow
@pytest.mark.parametrize("figure", figure_names())
def test_twenty_five_agents(figure: str) -> None:
    counts = {f"agent-{i:02d}": [(i * 7) % 49, (i * 5) % 49, i, 48 - i] for i in range(25)}
    world = World(counts, kind=lambda a, b, before: KINDS[(int(a[-2:]) + before) % 3])
    assert faults(build_of(world, figure)) == []


@pytest.mark.parametrize("count", [0, 48])
@pytest.mark.parametrize("figure", figure_names())
def test_all_alike(figure: str, count: int) -> None:
    world = World({f"agent-{i}": [count] * 2 for i in range(6)}, caps=(1, 2))
    assert faults(build_of(world, figure)) == []


def test_words_on_lead_flips_are_crossed_by_no_line_to_a_label() -> None:
    """Labels of many lines rose into the head over panel a, and their lines went through its words."""
    names = [*(f"{letter * 30}-{letter * 29}" for letter in "abc"), "x", "y", "z"]
    counts = {
        name: [*((7 * k + 11 * i) % 30 for k in range(4)), 48 - 2 * i]
        for i, name in enumerate(names)
    }
    caps = (1, 2, 3000, 3002, 3004)
    world = World(counts, caps=caps, n=56, kind=lambda a, b, before: "confirmed")
    assert faults(build_of(world, "budget_curves")) == []


def test_the_check_sees_a_fault() -> None:
    with style.house_style():
        figure = style.new_figure(2.0)
        style.put(figure, 1.0, 1.0, "one label", 8)
        style.put(figure, 1.2, 1.05, "another", 8)
        style.put(figure, 7.0, 0.2, "beyond the edge", 8)
        style.put(figure, 1.0, 0.2, "struck through", 8)
        style.leader(figure, (0.5, 0.2), (3.0, 0.3))
    assert sorted(fault.split()[0] for fault in faults(figure)) == ["'one", "a", "cut:"]
