from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from frozenbench.canonical import BadInput
from frozenbench.figures import ranks, style
from frozenbench.figures.budget_curves import percent
from frozenbench.figures.inputs import Inputs
from frozenbench.pages.blocks import percent as on_page
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Polygon, Rectangle
from read_figure import boxes, words
from synthetic_view import World

Draw = Callable[..., tuple[Figure, Inputs]]

COUNTS = {"oneshot": [14, 14, 14, 14], "resample": [12, 18, 20, 24], "repair": [12, 17, 23, 26]}
#: Two agents that change the lead twice, and a third that never leads.
FLIPS = {"early": [30, 20, 20, 40], "late": [10, 24, 36, 30], "last": [1, 2, 3, 4]}


def lines(axes: Axes) -> dict[str, Line2D]:
    found = {str(line.get_label()): line for line in axes.get_lines()}
    return {name: line for name, line in found.items() if not name.startswith("_")}


def ring_marks(figure: Figure) -> list[Ellipse]:
    return [item for item in figure.get_children() if isinstance(item, Ellipse)]


def spans(axes: Axes) -> list[tuple[float, float]]:
    """Return the ends of the tinted spans on the budget axis."""
    found = []
    for patch in axes.patches:
        if to_hex(patch.get_facecolor()).upper() == style.SPAN:
            assert isinstance(patch, Rectangle | Polygon)
            xs = patch.get_path().transformed(patch.get_patch_transform()).vertices[:, 0]
            found.append((float(np.min(xs)), float(np.max(xs))))
    return sorted(found)


def text(figure: Figure) -> str:
    return words(figure).replace("\n", " ").replace("\u00a0", " ")


def test_what_is_drawn_is_what_the_tables_hold(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS))
    a, b, _ = figure.axes
    for agent, counts in COUNTS.items():
        assert lines(a)[agent].get_ydata() == pytest.approx([count / 48 for count in counts])
        exhausted = [inputs.points[agent, f"b-{cap}"]["exhaust_rate"] for cap in (1, 2, 4, 8)]
        assert lines(b)[agent].get_ydata() == pytest.approx(exhausted)
        xs = np.asarray(lines(a)[agent].get_xdata(), dtype=float)
        assert np.abs(xs - np.log2([1, 2, 4, 8])).max() < 0.15


def test_weighted_rates_in_a_and_c_and_shares_of_cells_in_b(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS))
    for said in (
        "a Weighted pass rate",
        "c Rank by weighted pass rate",
        "unweighted share of cells",
    ):
        assert said in text(figure).replace("  ", " ")


def test_intervals_are_those_of_the_table(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS))
    bars = {
        tuple(np.round(segment[:, 1], 9))
        for held in figure.axes[0].collections
        for segment in held.get_segments()
    }
    wanted = {
        (round(row["weighted_low"], 9), round(row["weighted_high"], 9))
        for row in inputs.points.values()
    }
    assert bars == wanted


def test_headline_counts_pairs(draw: Draw) -> None:
    def kind(a: str, b: str, before: int) -> str:
        return "confirmed" if "oneshot" in (a, b) else "suggestive"

    figure, _ = draw(World(COUNTS, kind=kind))
    assert (
        "2 of 3 pairs have a confirmed flip, 1 more a suggestive one (rings: 2 solid, 1 dotted)."
        in text(figure)
    )
    assert "Holm over 12 contrasts, α = 0.05" in text(figure)
    assert "Unringed crossings are not resolved." in text(figure)


def test_every_lead_flip_has_a_bracket(draw: Draw) -> None:
    kinds = {0: "confirmed", 1: "unresolved"}
    for count, kind in ((1, lambda a, b, before: kinds[before]), (2, lambda a, b, c: "confirmed")):
        figure, _ = draw(World(FLIPS, kind=kind))
        held = [item for item in figure.get_children() if isinstance(item, Line2D)]
        assert sum(item.get_marker() == "|" for item in held) == count


@pytest.mark.parametrize("shares", [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)])
def test_one_ring_for_each_confirmed_or_suggestive_row(draw: Draw, shares: tuple[int, int]) -> None:
    kinds = ["confirmed"] * shares[0] + ["suggestive"] * shares[1] + ["unresolved"]
    counts = {f"agent-{i}": [(7 * i * (k + 2)) % 48 for k in range(5)] for i in range(6)}
    world = World(
        counts,
        caps=(1, 2, 4, 8, 16),
        kind=lambda a, b, before: kinds[(int(a[-1]) + int(b[-1]) + before) % len(kinds)],
    )
    figure, inputs = draw(world)
    held = [row["kind"] for row in inputs.flips]
    assert held.count("unresolved") > 0
    rings = ring_marks(figure)
    whole = [ring for ring in rings if ring.get_linestyle() in ("-", "solid")]
    assert len(whole) == held.count("confirmed")
    assert len(rings) - len(whole) == held.count("suggestive")


def test_rings_of_one_spot_lie_around_each_other(draw: Draw) -> None:
    coloured = {f"agent-{i}": [40 + i, 40 + i] for i in range(4)}
    pale = {"up": [10, 30], "middle": [20, 20], "down": [30, 10]}
    world = World(coloured | pale, caps=(1, 2), kind=lambda a, b, before: "confirmed")
    figure, _ = draw(world)
    rings = ring_marks(figure)
    assert len(rings) == 3
    assert len({ring.get_center() for ring in rings}) == 1
    assert len({ring.get_width() for ring in rings}) == 3


def test_a_ring_lies_between_its_budgets_on_both_lines(draw: Draw) -> None:
    figure, inputs = draw(World(FLIPS, kind=lambda a, b, before: "confirmed"))
    c = figure.axes[2]
    assert len(inputs.flips) == 2
    places = dict(zip(("b-1", "b-2", "b-4", "b-8"), (0, 1, 2, 3), strict=True))
    for ring, row in zip(ring_marks(figure), inputs.flips, strict=True):
        pixels = figure.transFigure.transform(ring.get_center())
        x, y = c.transData.inverted().transform(pixels)
        assert places[row["budget_from"]] < x < places[row["budget_to"]]
        assert y == pytest.approx(1.5, abs=0.1)


def test_a_ring_over_a_tie_lies_at_the_tie(draw: Draw) -> None:
    counts = {"one": [10, 20, 20, 30], "two": [20, 20, 20, 10]}
    figure, inputs = draw(World(counts, kind=lambda a, b, before: "suggestive"))
    (row,), (ring,) = inputs.flips, ring_marks(figure)
    assert (row["budget_from"], row["budget_to"]) == ("b-1", "b-8")
    pixels = figure.transFigure.transform(ring.get_center())
    x, y = figure.axes[2].transData.inverted().transform(pixels)
    assert x == pytest.approx(1.5, abs=0.01)
    assert y == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("place", range(4))
def test_a_ring_lies_on_both_lines_where_agents_are_tied(draw: Draw, place: int) -> None:
    """A ring stood at the tie, and the lines met beside it: what they cross at looked unringed."""
    counts = {
        "falls": [30, 20, 20, 10, 10],
        "rises": [10, 10, 20, 20, 30],
        "third": [5, 20, 20, 15, 31],
        "fourth": [4, 15, 20, 20, 9],
    }
    order = [*list(counts)[place:], *list(counts)[:place]]
    world = World(
        {name: counts[name] for name in order},
        caps=(1, 2, 4, 8, 16),
        kind=lambda a, b, before: "suggestive" if {a, b} == {"falls", "rises"} else "unresolved",
    )
    figure, _ = draw(world)
    panel = figure.axes[2]
    (ring,) = ring_marks(figure)
    spot = figure.transFigure.transform(ring.get_center())
    drawn = [line for line in panel.get_lines() if line.get_marker() == "None"]
    for agent in ("falls", "rises"):
        line = drawn[order.index(agent)]
        path = panel.transData.transform(np.column_stack(line.get_data()))
        assert np.nanmin(np.hypot(*(path - spot).T)) < 5, "pixels"


def test_many_agents_are_named_with_their_last_rank(draw: Draw) -> None:
    counts = {f"agent-{i}": [i, 48 - i] for i in range(8)} | {"tied": [3, 47]}
    figure, _ = draw(World(counts, caps=(1, 2)))
    told = text(figure)
    for name in ("1 agent-0", "2 agent-1", "2 tied", "4 agent-2", "9 agent-7"):
        assert name in told
    few, _ = draw(World(COUNTS))
    assert "1 repair" not in text(few)


def test_lead_flips_span_all_panels_between_confirmed_budgets(draw: Draw) -> None:
    figure, inputs = draw(World(FLIPS, kind=lambda a, b, before: "confirmed"))
    assert [row["lead"] for row in inputs.flips] == [True, True]
    for axes in figure.axes:
        assert spans(axes) == [(0.0, 1.0), (2.0, 3.0)]
    assert "lead flips" in text(figure)
    assert "early → late" in text(figure)
    assert "late → early" in text(figure)


def test_a_span_is_not_narrowed_to_the_crossing(draw: Draw, monkeypatch: Any) -> None:
    import synthetic_view

    plain = synthetic_view._pair_flips

    def wider(*arguments: Any) -> list[dict[str, Any]]:
        rows = plain(*arguments)
        return [row | {"confirmed_from": "b-1", "confirmed_to": "b-8"} for row in rows]

    monkeypatch.setattr(synthetic_view, "_pair_flips", wider)
    counts = {"one": [10, 20, 21, 30], "two": [20, 21, 20, 10]}
    figure, inputs = draw(World(counts, kind=lambda a, b, before: "confirmed"))
    assert [(row["budget_from"], row["budget_to"]) for row in inputs.flips] == [("b-2", "b-4")]
    assert spans(figure.axes[0]) == [(0.0, 3.0)]


@pytest.mark.parametrize("kind", ["suggestive", "unresolved"])
def test_no_span_without_a_confirmed_lead(draw: Draw, kind: str) -> None:
    figure, _ = draw(World(FLIPS, kind=lambda a, b, before: kind))
    assert all(spans(axes) == [] for axes in figure.axes)
    assert "lead flips" not in text(figure)


def test_words_on_lead_flips_lie_over_the_data(draw: Draw) -> None:
    counts = {name: [count + 8 for count in held] for name, held in FLIPS.items()}
    figure, _ = draw(World(counts, kind=lambda a, b, before: "confirmed"))
    top = figure.axes[0].transData.transform((0, 1.015))[1]
    lowest = min(box.y0 for said, box in boxes(figure) if "→" in said or said == "lead flips")
    assert lowest > top


def test_colour_and_marker_belong_to_the_place_in_the_config(draw: Draw) -> None:
    def looks(counts: dict[str, list[int]]) -> list[tuple[str, str, Any]]:
        figure, _ = draw(World(counts))
        return [
            (name, str(line.get_color()), line.get_marker())
            for name, line in lines(figure.axes[0]).items()
        ]

    first = looks({"x": [1] * 4, "y": [2] * 4, "z": [3] * 4})
    second = looks({"x": [3] * 4, "y": [2] * 4, "z": [1] * 4})
    assert first == second
    assert [colour for _, colour, _ in first] == ["#00568A", "#D55E00", "#2B2B2B"]
    assert len({marker for _, _, marker in first}) == 3


def test_more_than_six_agents_are_pale_but_for_the_focus(draw: Draw) -> None:
    counts = {f"agent-{i}": [i, 2 * i, 3 * i, 48 - i] for i in range(8)}
    figure, _ = draw(World(counts))
    colours = {name: line.get_color() for name, line in lines(figure.axes[0]).items()}
    # agent-0 leads under the last budget, agent-7 under the others.
    shown = ["agent-0", "agent-1", "agent-2", "agent-7"]
    assert [name for name, colour in colours.items() if colour != style.PALE] == shown
    assert "Coloured: those that lead under some budget, then the first of the config" in text(
        figure
    )
    focus = ["agent-6", "agent-2"]
    figure, _ = draw(World(counts, edit_view=lambda view: view.update(focus=focus)))
    colours = {name: line.get_color() for name, line in lines(figure.axes[0]).items()}
    assert colours["agent-2"] == "#00568A"
    assert colours["agent-6"] == "#D55E00"
    assert list(colours.values()).count(style.PALE) == 6
    for name in counts:
        assert name in text(figure)


def test_a_name_in_focus_that_is_nobody_is_told_among_few_agents_too(draw: Draw) -> None:
    with pytest.raises(BadInput, match="focus: 'nobody' is no agent of this experiment"):
        draw(World(COUNTS, edit_view=lambda view: view.update(focus=["nobody"])))


def test_focus_means_nothing_among_six(draw: Draw) -> None:
    figure, _ = draw(World(COUNTS, edit_view=lambda view: view.update(focus=["repair"])))
    colours = [line.get_color() for line in lines(figure.axes[0]).values()]
    assert style.PALE not in colours


@pytest.mark.parametrize(
    ("focus", "said"),
    [(["nobody"], "focus: 'nobody' is no agent"), ([f"agent-{i}" for i in range(5)], "at most 4")],
)
def test_wrong_focus(draw: Draw, focus: list[str], said: str) -> None:
    counts = {f"agent-{i}": [i] * 4 for i in range(8)}
    with pytest.raises(BadInput, match=said):
        draw(World(counts, edit_view=lambda view: view.update(focus=focus)))


def test_title_of_the_view(draw: Draw) -> None:
    given = "  Retries cost $5 and\nmore "
    figure, _ = draw(World(COUNTS, edit_view=lambda view: view.update(title=given)))
    assert text(figure).startswith("Retries cost $5 and more ")
    figure, _ = draw(World(COUNTS))
    assert text(figure).startswith("Pass rate against tool-call budget ")
    figure, _ = draw(World(COUNTS, axis="max_tokens"))
    assert text(figure).startswith("Pass rate against token budget ")


def test_one_budget_makes_sense(draw: Draw) -> None:
    counts = {"one": [10], "two": [40], "three": [12]}
    figure, _ = draw(World(counts, caps=(4,)))
    said = text(figure)
    assert said.startswith("Pass rate under one tool-call budget 2 of 3 pairs resolved")
    assert "Unringed" not in said
    assert "log₂" not in said
    assert ring_marks(figure) == []


def test_one_agent_makes_sense(draw: Draw) -> None:
    figure, _ = draw(World({"alone": [1, 2, 3, 4]}))
    assert "One agent: there is no pair to compare." in text(figure)
    assert "Holm" not in text(figure)


def test_no_cap_stands_at_the_right_end(draw: Draw) -> None:
    counts = {name: held[:3] for name, held in COUNTS.items()}
    figure, inputs = draw(World(counts, caps=(None, 1, 4)))
    assert [rung.label for rung in inputs.rungs] == ["1", "4", "no cap"]
    # The table's order of budgets is not the axis' order.
    assert lines(figure.axes[0])["repair"].get_ydata() == pytest.approx([17 / 48, 23 / 48, 12 / 48])
    assert "“no cap” has no place on the scale" in text(figure)


def test_budgets_of_another_ladder_are_named_and_not_joined(draw: Draw) -> None:
    budgets = {
        "small": {"max_tool_calls": 1, "max_seconds": 60},
        "other": {"max_tool_calls": 2, "max_seconds": 600},
        "large": {"max_tool_calls": 4, "max_seconds": 60},
    }
    counts = {"one": [10, 11, 20], "two": [20, 22, 10]}
    figure, inputs = draw(World(counts, budgets=budgets, kind=lambda a, b, before: "confirmed"))
    assert [rung.name for rung in inputs.rungs] == ["small", "large"]
    assert lines(figure.axes[0])["one"].get_ydata() == pytest.approx([10 / 48, 20 / 48])
    assert "Left out, because another cap differs: other" in text(figure)
    assert len(ring_marks(figure)) == 1


def test_two_budgets_with_the_same_caps(draw: Draw) -> None:
    budgets = {name: {"max_tool_calls": 1, "max_seconds": 60} for name in ("one", "same")}
    with pytest.raises(BadInput, match="two of one, same have the same caps"):
        draw(World({"a": [1, 2]}, budgets=budgets))


def test_a_pack_that_cannot_confirm_says_so(draw: Draw) -> None:
    said = "This pack cannot confirm a flip: a contrast needs 9 discordant tasks, all one way."
    counts = {"one": [1, 2, 3, 3], "two": [2, 2, 2, 2]}
    figure, _ = draw(World(counts, n=3))
    assert said in text(figure)
    figure, _ = draw(World(counts, n=12))
    assert said not in text(figure)
    assert "Few tasks for 4 contrasts: Holm's first step needs 9 discordant ones" in text(figure)
    figure, _ = draw(World(counts))
    assert said not in text(figure)


@given(st.integers(1, 2000), st.data())
def test_only_nothing_is_0_percent_and_only_all_is_100(n: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    said = percent(count / n)
    assert (said == "0%") == (count == 0)
    assert (said == "100%") == (count == n)
    assert abs(float(said.strip("<>%")) - 100 * count / n) <= 0.1
    if "<" not in said and ">" not in said:
        assert float(said.strip("%")) == float(on_page(count / n).strip(" %"))


def test_agents_that_share_a_rank_stand_beside_each_other(draw: Draw) -> None:
    figure, _ = draw(World({f"agent-{i}": [7, 7] for i in range(6)}, caps=(1, 2)))
    held = lines(figure.axes[2])
    first = [float(np.asarray(line.get_xdata())[0]) for line in held.values()]
    assert len(set(np.round(first, 6))) == 6
    for line in held.values():
        assert np.abs(np.asarray(line.get_ydata()) - 1).max() < 0.5


@given(st.integers(1, 60))
def test_ranks_have_room_for_every_name(agents: int) -> None:
    few = min(agents, 4) if agents > style.MOST_COLOURED else agents
    assert ranks.panel_height(agents, few) >= agents * style.PALE_LABEL / 72
