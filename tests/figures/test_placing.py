from __future__ import annotations

import pytest
from frozenbench.canonical import BadInput
from frozenbench.figures.placing import (
    Rectangle,
    fit_columns,
    place_near,
    spread,
    stagger,
    wrap,
    wrap_words,
)
from hypothesis import given
from hypothesis import strategies as st


def by_letter(text: str) -> float:
    return 0.1 * len(text)


@given(st.text(st.sampled_from("abcXYZ019-_./ "), max_size=80), st.integers(1, 30))
def test_wrap_keeps_every_letter_and_the_width(text: str, letters: int) -> None:
    for lines in (
        wrap(text, 0.1 * letters + 1e-9, by_letter),
        wrap_words(text, 0.1 * letters + 1e-9, by_letter),
    ):
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert all(len(line) <= letters for line in lines)


def test_wrap_breaks_where_people_would() -> None:
    assert wrap("claude-code-sonnet-4.5", 1.25, by_letter) == ["claude-code-", "sonnet-4.5"]
    assert wrap("Preview (2025-11-18)", 1.55, by_letter) == ["Preview", "(2025-11-18)"]
    assert wrap("x" * 25, 1.05, by_letter) == ["x" * 10, "x" * 10, "x" * 5]
    assert wrap_words("shared, 5 live 2025-01-02", 1.55, by_letter) == [
        "shared, 5 live",
        "2025-01-02",
    ]


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 2)), min_size=1, max_size=12).map(sorted)
)
def test_spread_keeps_order_room_and_bounds(labels: list[tuple[float, float]]) -> None:
    wanted, heights = [want for want, _ in labels], [height for _, height in labels]
    centres = spread(wanted, heights, 0.0, 10.0)
    for place in range(len(centres) - 1):
        needed = (heights[place] + heights[place + 1]) / 2
        assert centres[place + 1] - centres[place] >= needed - 1e-9
    if sum(heights) <= 10:
        assert centres[0] - heights[0] / 2 >= -1e-9
        assert centres[-1] + heights[-1] / 2 <= 10 + 1e-9


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9, unique=True).map(sorted))
def test_spread_leaves_what_is_clear(wanted: list[int]) -> None:
    centres = spread([float(want) for want in wanted], [0.9] * len(wanted), 0.0, 10.0)
    assert centres == pytest.approx(wanted)


def test_spread_moves_both_of_a_pair_alike() -> None:
    assert spread([5.0, 5.0], [1.0, 1.0], 0.0, 10.0) == pytest.approx([4.5, 5.5])


@given(st.lists(st.tuples(st.floats(0.1, 9), st.floats(0.1, 2)), min_size=1, max_size=8))
def test_columns_fit_or_raise(columns: list[tuple[float, float]]) -> None:
    natural, least = [wide for wide, _ in columns], [low for _, low in columns]
    floors = [min(pair) for pair in columns]
    names = [str(place) for place in range(len(columns))]
    if sum(floors) > 6:
        with pytest.raises(BadInput):
            fit_columns(natural, least, 6.0, names)
        return
    widths = fit_columns(natural, least, 6.0, names)
    assert sum(widths) <= 6 + 1e-6
    for width, wide, floor in zip(widths, natural, floors, strict=True):
        assert floor <= width <= wide
    if sum(natural) <= 6:
        assert widths == natural


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.05, 1)), max_size=12).map(sorted))
def test_staggered_labels_touch_no_other_of_their_row(labels: list[tuple[float, float]]) -> None:
    centres, widths = [centre for centre, _ in labels], [width for _, width in labels]
    rows = stagger(centres, widths, 0.05)
    for one in range(len(labels)):
        for other in range(one):
            if rows[one] == rows[other]:
                apart = abs(centres[one] - centres[other])
                assert apart >= (widths[one] + widths[other]) / 2 + 0.05 - 1e-9


rectangles = st.tuples(
    st.floats(0, 5), st.floats(0, 3), st.floats(0.01, 1), st.floats(0.01, 1)
).map(lambda at: Rectangle(at[0], at[1], at[0] + at[2], at[1] + at[3]))


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 3)), min_size=1, max_size=4),
    st.lists(rectangles, max_size=8),
    st.lists(rectangles, max_size=8),
    st.integers(0, 3),
)
def test_place_near_covers_nothing_that_is_taken(
    marks: list[tuple[float, float]], taken: list[Rectangle], soft: list[Rectangle], most: int
) -> None:
    inside = Rectangle(0, 0, 5, 3)
    spot = place_near(marks, (0.6, 0.1), 0.05, taken, soft, inside, most=most)
    if spot is not None:
        assert inside.holds(spot)
        assert not any(spot.meets(other) for other in taken)
        assert sum(spot.meets(other) for other in soft) <= most


def test_place_near_prefers_the_right_of_the_first_mark() -> None:
    inside = Rectangle(0, 0, 5, 3)
    spot = place_near([(1, 1), (3, 2)], (0.6, 0.1), 0.05, [], [], inside)
    assert spot == Rectangle(1.05, 0.95, 1.65, 1.05)
    wall = [Rectangle(0, 0, 5, 3)]
    assert place_near([(1, 1)], (0.6, 0.1), 0.05, wall, [], inside) is None
