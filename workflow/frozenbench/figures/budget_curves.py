"""Figure `budget_curves`: pass rate, exhaust rate and rank against the budget, with every flip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from frozenbench.figures import curve_notes, import_box, marks, ranks, style
from frozenbench.figures.frame import make_frame, tasks
from frozenbench.figures.inputs import Inputs
from frozenbench.figures.leads import LeadSpan, draw_spans, lead_spans
from frozenbench.figures.marks import Panel
from frozenbench.figures.outcome_marks import exhausted
from frozenbench.figures.rank_places import rank_limits
from frozenbench.figures.scale import Scale, make_scale
from frozenbench.figures.style import Look

AXIS_TITLES = {
    "max_tool_calls": "Budget: max tool calls per run",
    "max_edit_rounds": "Budget: max edit rounds per run",
    "max_tokens": "Budget: max tokens per run",
    "max_seconds": "Budget: max wall-clock seconds per run",
}

# Inches: panel heights, room between panels, right edge of panels, labels after it, axis title.
_HEIGHT_A, _HEIGHT_B, _BETWEEN = 2.25, 0.91, 0.50
_PANELS_RIGHT, _LABEL_GAP, _LABEL_MOST = 5.868, 0.06, 1.90
_AXIS_TITLE, _TO_NOTES = 0.245, 0.50
_LIMITS_A, _LIMITS_B = (-0.015, 1.015), (-0.04, 1.04)


def build_figure(inputs: Inputs) -> Figure:
    """Draw the figure; call it inside `style.house_style()`.

    Raises:
        BadInput: a control is missing, or `focus` is wrong.
    """
    looks = style.coloured(inputs.agents, inputs.focus)
    width = _panels_width(inputs, looks)
    scale = make_scale(inputs.rungs, width, marks.group_width(len(looks)))
    spans = lead_spans(inputs, scale)
    frame = make_frame(
        inputs,
        str(inputs.view.get("title") or curve_notes.title(inputs)),
        curve_notes.finding(inputs, looks),
        curve_notes.notes(inputs, looks, scale, spans),
    )
    place = _places(frame.top, inputs, looks, spans, scale)
    figure = frame.open(place.notes)
    a = _panel_a(figure, inputs, looks, scale, place)
    b = _panel_b(figure, inputs, looks, scale, place)
    c = _panel_c(figure, inputs, looks, scale, place)
    draw_spans(spans, (a, b, c))
    kind = " (log₂ scale)" if len(inputs.rungs) > 1 else ""
    style.put(
        figure,
        style.LEFT + width / 2,
        place.axis_title,
        axis_title(inputs) + kind,
        style.AXIS,
        ha="center",
    )
    return figure


def axis_title(inputs: Inputs) -> str:
    """Return what the budget axis shows."""
    return import_box.axis_title(inputs) if inputs.imported else AXIS_TITLES[inputs.axis]


def percent(rate: float) -> str:
    """Write a rate as the page does, to a tenth; only 0 is 0 % and only 1 is 100 %.

    In whole per cent two agents of different rank would have one number.
    """
    if rate in (0, 1):
        return f"{100 * rate:.0f}%"
    if rate < 0.0005:
        return "<0.1%"
    if rate >= 0.9995:
        return ">99.9%"
    return f"{100 * rate:.1f}%"


def _panels_width(inputs: Inputs, looks: Mapping[str, Look]) -> float:
    """Return the panels' width: labels get what they need, up to a limit, then they wrap."""
    needed = 0.0
    for agent in inputs.agents:
        if agent in looks:
            needed = max(needed, style.width_of(f"{agent}  >99.9%", style.END_LABEL, bold=True))
        else:
            needed = max(needed, style.width_of(_ranked(inputs, agent), style.PALE_LABEL))
    labels_left = style.RIGHT - min(needed + 0.02, _LABEL_MOST)
    return min(_PANELS_RIGHT, labels_left - _LABEL_GAP) - style.LEFT


@dataclass(frozen=True)
class _Places:
    """Tops and heights of the panels, inches; `head` is the room for lead flips over a."""

    width: float
    top_a: float
    height_a: float
    head: float
    top_b: float
    top_c: float
    height_c: float
    axis_title: float
    notes: float

    @property
    def labels(self) -> float:
        """Where end labels begin."""
        return style.LEFT + self.width + _LABEL_GAP

    @property
    def room(self) -> float:
        """How wide an end label may be."""
        return style.RIGHT - self.labels


def _places(
    top: float,
    inputs: Inputs,
    looks: Mapping[str, Look],
    spans: Sequence[LeadSpan],
    scale: Scale,
) -> _Places:
    width = scale.width
    room = style.RIGHT - style.LEFT - width - _LABEL_GAP
    head = max((span.bottom for span in spans), default=0.0)
    labels_a = sum(
        marks.end_label(f"{agent}  >99.9%", room, (0, 0), look, True).room
        for agent, look in looks.items()
    )
    labels_c = sum(
        marks.end_label(
            _ranked(inputs, agent), room, (0, 0), looks.get(agent, style.REST), agent in looks
        ).room
        for agent in inputs.agents
    )
    height_a = max(_HEIGHT_A, labels_a)
    height_c = max(ranks.panel_height(len(inputs.agents), len(looks)), labels_c)
    between = _BETWEEN + marks.ticks_height(scale)
    top_b = top + head + height_a + between
    top_c = top_b + _HEIGHT_B + between
    axis_title = top_c + height_c + _AXIS_TITLE + marks.ticks_height(scale)
    return _Places(
        width=width,
        top_a=top,
        height_a=height_a,
        head=head,
        top_b=top_b,
        top_c=top_c,
        height_c=height_c,
        axis_title=axis_title,
        notes=axis_title + _TO_NOTES - _AXIS_TITLE,
    )


def _panel_a(
    figure: Figure, inputs: Inputs, looks: Mapping[str, Look], scale: Scale, place: _Places
) -> Panel:
    low, high = _LIMITS_A
    # The head holds the words on lead flips, so that they cover no data; 0–100 % keeps its size.
    limits = (low, high + (high - low) * place.head / place.height_a)
    whole = place.head + place.height_a
    panel = marks.add_panel(figure, scale, (style.LEFT, place.top_a, place.width, whole), limits)
    panel.axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    panel.axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    panel.axes.spines["left"].set_bounds(low, high)
    bars = f"bars: 95\u00a0% Wilson intervals over {tasks(inputs)}"
    equal = " (all equal)" if inputs.equal_weights else ""
    remark = f"share of the tasks’ weight{equal} that is PASS; {bars}"
    marks.title_panel(panel, "a", "Weighted pass rate", remark)
    columns = ("weighted_pass_rate", "weighted_low", "weighted_high")
    marks.draw_curves(panel, inputs, looks, columns)
    stand = marks.standing(scale, looks)
    labels = []
    for agent, look in looks.items():
        rates = inputs.series(agent, "weighted_pass_rate")
        known = [
            (x, rate)
            for x, rate in zip(stand.xs(agent, scale), rates, strict=True)
            if rate is not None
        ]
        if known:
            text = f"{agent}  {percent(known[-1][1])}"
            labels.append(marks.end_label(text, place.room, known[-1], look, True))
    marks.draw_end_labels(panel, labels, place.labels, place.head)
    return panel


def _panel_b(
    figure: Figure, inputs: Inputs, looks: Mapping[str, Look], scale: Scale, place: _Places
) -> Panel:
    where = (style.LEFT, place.top_b, place.width, _HEIGHT_B)
    panel = marks.add_panel(figure, scale, where, _LIMITS_B)
    panel.axes.set_yticks([0, 0.5, 1.0])
    panel.axes.yaxis.set_major_formatter(FuncFormatter(percent_tick))
    marks.title_panel(
        panel,
        "b",
        "Exhaust rate",
        f"unweighted share of cells EXHAUSTED ({exhausted(inputs)})",
    )
    marks.draw_curves(panel, inputs, looks, ("exhaust_rate", "exhaust_low", "exhaust_high"))
    style.put(
        figure,
        place.labels,
        place.top_b + _HEIGHT_B / 2,
        "colours, markers\nand bars as in a"
        if inputs.equal_weights
        else f"as in a, but bars over\n{len(inputs.tasks)} tasks of one weight",
        style.NOTE,
        color=style.MUTED,
        va="center",
    )
    return panel


def _panel_c(
    figure: Figure, inputs: Inputs, looks: Mapping[str, Look], scale: Scale, place: _Places
) -> Panel:
    count = len(inputs.agents)
    where = (style.LEFT, place.top_c, place.width, place.height_c)
    panel = marks.add_panel(figure, scale, where, rank_limits(count))
    panel.axes.set_yticks(range(1, count + 1))
    if count > style.MOST_COLOURED:
        panel.axes.tick_params(axis="y", labelsize=style.PALE_LABEL)
    placed = ranks.draw_ranks(panel, inputs, looks)
    remark = ["1 is best"]
    if placed.groups:
        remark.append("ties share the better rank (grey pill)")
    if ranks.has_intervals(inputs, looks):
        remark.append("bars: 95\u00a0% intervals over resamples of tasks (no test)")
    marks.title_panel(panel, "c", "Rank by weighted pass rate", "; ".join(remark))
    labels = []
    for agent in inputs.agents:
        known = [spot for spot in placed.spots[agent] if spot is not None]
        if known:
            look, front = looks.get(agent, style.REST), agent in looks
            text = _ranked(inputs, agent)
            labels.append(marks.end_label(text, place.room, known[-1], look, front))
    marks.draw_end_labels(panel, labels, place.labels)
    return panel


def _ranked(inputs: Inputs, agent: str) -> str:
    """Return an agent's name; among many with its last rank, since names do not stand at theirs."""
    known = [rank for rank in inputs.series(agent, "rank") if rank is not None]
    if len(inputs.agents) <= style.MOST_COLOURED or not known:
        return agent
    return f"{known[-1]:.0f} {agent}"


def percent_tick(value: float, _: int | None) -> str:
    """Write a tick of a rate; the signature is matplotlib's."""
    return f"{100 * value:.0f}%"
