"""The box of frozen controls above every score: what it says, and how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from frozenbench.canonical import BadInput
from frozenbench.controls import CAP_FIELDS
from frozenbench.figures import style
from frozenbench.figures.inputs import Inputs, plain
from frozenbench.figures.placing import fit_columns, wrap_words

# Inches: row pitch, first row under the box top, padding at the sides, key to value, column gap.
_PITCH, _FIRST, _PAD, _KEY_GAP, _GAP = 0.118, 0.185, 0.07, 0.10, 0.11
#: Inches between the rows of the table of agents where one has several lines.
_ROW_GAP = 0.045
#: The least width to which a column of values, and one of digests, may be wrapped, in characters.
_LEAST, _DIGEST = 9, 12
_DIGESTS = ("weights sha256", "tools sha256", "sheet sha256")
_ROWS = 5
#: Characters of swept caps that are listed one by one; more widen the column.
_LISTED = 21

_UNITS = {"tool_calls": "", "edit_rounds": "", "tokens": "", "wall_clock": " s"}
_ENDPOINT_HEADS = ("endpoint", "model", "weights sha256", "temp", "seed")


@dataclass(frozen=True)
class Controls:
    """What the box says.

    Attributes:
        columns: three columns of at most five (key, value).
        heads: the heads of the table of agents.
        agents: one row an agent, as long as `heads`.
        extra: (key, value) lines below, across the whole box.
    """

    columns: tuple[tuple[tuple[str, str], ...], ...]
    heads: tuple[str, ...]
    agents: tuple[tuple[str, ...], ...]
    extra: tuple[tuple[str, str], ...]
    caption: str = "FROZEN CONTROLS"


@dataclass(frozen=True)
class Box:
    """The box laid out: its height in inches, and (x, y, text, mono) from its upper left corner."""

    height: float
    items: tuple[tuple[float, float, str, bool], ...]
    rule: float
    caption: str


def read_controls(inputs: Inputs) -> Controls:
    """Say what the box holds.

    Raises:
        BadInput: a control is missing; names it.
    """
    if inputs.imported:
        from frozenbench.figures.import_box import CAPTION, columns, extra

        return Controls(columns(inputs), (), (), extra(inputs), CAPTION)
    heads, agents = _agents(inputs)
    return Controls(
        columns=(_pack(inputs), _budget(inputs), _environment(inputs)),
        heads=heads,
        agents=agents,
        extra=_extra(inputs),
    )


def pack_fact(inputs: Inputs, key: str) -> str:
    """Return what the pack says of itself: it stands in the view, since it is in no key."""
    if inputs.view.get("pack", key) is None and inputs.controls.get("pack", key) is not None:
        return str(inputs.controls.need("pack", key))
    return str(inputs.view.need("pack", key))


def _pack(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    tasks = inputs.tasks
    weights = [int(inputs.controls.need("tasks", name, "weight")) for name in tasks]
    trust = sorted({str(inputs.controls.need("tasks", name, "grader_trust")) for name in tasks})
    unqualified = sum(not inputs.controls.need("tasks", name, "qualified") for name in tasks)
    if not weights:
        raise BadInput(
            f"controls.json: tasks: none is in the slice {inputs.slice}; cure: make the tables "
            "again"
        )
    low, high = min(weights), max(weights)
    count = f"{len(tasks)}"
    if inputs.slice != "public":
        count += f" {inputs.slice}"
    if inputs.controls.need("task_subset", null=True) is not None:
        count += " (subset)"
    count += f", weight {low}" if low == high else f", weights {low}-{high}"
    if unqualified:
        count += f", {unqualified} unqualified"
    return (
        ("pack", f"{pack_fact(inputs, 'name')} ({pack_fact(inputs, 'status')})"),
        ("pack sha256", str(inputs.controls.need("pack", "digest"))[:12]),
        ("grader", ", ".join(trust)),
        ("tasks", count),
        ("cells", f"{inputs.cells}, {inputs.cells_expected - inputs.cells} missing"),
    )


def _budget(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    disclosed = inputs.controls.need("budget_disclosed")
    repeats = (
        f"{inputs.controls.need('repeats')}, budget {'disclosed' if disclosed else 'undisclosed'}"
    )
    return (
        *((meter.replace("_", " "), _cap(inputs, meter)) for meter in CAP_FIELDS),
        ("repeats", repeats),
    )


def _cap(inputs: Inputs, meter: str) -> str:
    """Write a cap of the ladder that is drawn; all but the axis are the same on all of it."""
    unit = _UNITS[meter]
    if CAP_FIELDS[meter] == inputs.axis:
        caps = [plain(rung.cap) for rung in inputs.rungs if rung.cap is not None]
        if len(inputs.rungs) > 1 and caps:
            listed = ", ".join(caps)
            if len(listed) > _LISTED:
                listed = f"{len(caps)} caps {caps[0]}..{caps[-1]}"
            return f"swept {listed}{unit}" + (", no cap" if len(caps) < len(inputs.rungs) else "")
    cap = inputs.controls.get("budgets", inputs.rungs[0].name, CAP_FIELDS[meter])
    if cap is None:
        return "no cap"
    own = [float(task["budget_s"]) for task in inputs.tasks.values() if task.get("budget_s")]
    if meter == "wall_clock" and own and min(own) < float(cap):
        return f"{plain(cap)}{unit}, tasks from {plain(min(own))}{unit}"
    return f"{plain(cap)}{unit} per run"


def _environment(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    need = inputs.controls.need
    grading = str(need("grading"))
    if grading == "every_step":
        grading += ", oracle stop"
    lock = need("environment", "lock_sha256", null=True)
    isolation = f"{need('environment', 'isolation')}, net {need('environment', 'network')}"
    return (
        ("isolation", isolation),
        ("grading", grading),
        ("clock", str(need("clock"))),
        ("responses", _responses(inputs)),
        ("python / lock", f"{need('environment', 'python')} / {lock[:12] if lock else 'none'}"),
    )


def _responses(inputs: Inputs) -> str:
    policy = str(inputs.controls.need("responses_policy"))
    count = int(inputs.responses["distinct"])
    if not count:
        return f"{policy}, none used"
    first, last = inputs.responses.get("first_date"), inputs.responses.get("last_date")
    kind = "recorded" if inputs.responses["recorded"] else "live"
    dates = f" {first}" if first else ""
    if first and last and first != last:
        same_year = first[:4] == last[:4]
        dates += f"..{last[5:] if same_year else last}"
    return f"{policy}, {count} {kind}{dates}"


def _agents(inputs: Inputs) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return heads and rows of the table of agents; endpoint columns only where one has any."""
    rows = [_agent(inputs, name) for name in inputs.agents]
    heads = ["agent", *_ENDPOINT_HEADS, "adapter", "tools sha256", "sheet sha256"]
    if not any(row["endpoint"] != "-" for row in rows):
        heads = [head for head in heads if head not in _ENDPOINT_HEADS]
    if not any(row["tools sha256"] != "-" for row in rows):
        heads.remove("tools sha256")
    return tuple(heads), tuple(tuple(row[head] for head in heads) for row in rows)


def _agent(inputs: Inputs, name: str) -> dict[str, str]:
    need = inputs.controls.need
    where = ("agents", name, "sheet")
    sheet: Mapping[str, Any] = need(*where)
    adapter = str(need(*where, "adapter"))
    row = {
        "agent": name,
        "adapter": f"{adapter}/{sheet['policy']}" if sheet.get("policy") else adapter,
        "tools sha256": "-",
        "sheet sha256": str(need("agents", name, "sheet_digest"))[:12],
        **dict.fromkeys(_ENDPOINT_HEADS, "-"),
    }
    if sheet.get("endpoint") is None:
        return row
    weights = sheet["endpoint"].get("weights_sha256")
    need(*where, "endpoint", "wire")
    row |= {
        "endpoint": str(need(*where, "endpoint", "id")),
        "model": str(need(*where, "endpoint", "model")),
        "weights sha256": weights[:12] if weights else "not pinned",
        "temp": _pinned(sheet.get("temperature")),
        "seed": _pinned(sheet.get("seed")),
    }
    if sheet.get("tool_schema_sha256"):
        row["tools sha256"] = sheet["tool_schema_sha256"][:12]
    return row


def _pinned(value: float | None) -> str:
    return "not pinned" if value is None else plain(value)


def _extra(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    accepted = inputs.controls.need("accepted")
    found = []
    for key in sorted(accepted):
        value = accepted[key]
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        found.append((key.replace("_", " "), text))
    return tuple(found)


def lay_out(controls: Controls, width: float) -> Box:
    """Place everything in a box of `width` inches; long values are wrapped, none is cut.

    Raises:
        BadInput: the columns do not fit.
    """
    inner = width - 2 * _PAD
    items, bottom = _lay_columns(controls.columns, inner)
    rule = bottom + 0.035
    bottom = rule + 0.045
    if controls.heads:
        table, bottom = _lay_table([controls.heads, *controls.agents], inner, bottom)
        items += table
    for key, value in controls.extra:
        indent = _key_width([key])
        lines = wrap_words(value, inner - indent, _mono)
        items.append((_PAD, bottom, key, False))
        items += [(_PAD + indent, bottom + i * _PITCH, line, True) for i, line in enumerate(lines)]
        bottom += len(lines) * _PITCH
    return Box(bottom + 0.02, tuple(items), rule, controls.caption)


_Items = list[tuple[float, float, str, bool]]


def _lay_columns(
    columns: Sequence[Sequence[tuple[str, str]]], inner: float
) -> tuple[_Items, float]:
    keys = [_key_width([key for key, _ in column]) for column in columns]
    natural = [max(_mono(value) for _, value in column) for column in columns]
    available = inner - sum(keys) - _GAP * (len(columns) - 1)
    names = [max(column, key=lambda row: len(row[1]))[0] for column in columns]
    widths = fit_columns(natural, [_mono("0" * _DIGEST)] * len(columns), available, names)
    spare = (available - sum(widths)) / max(1, len(columns) - 1)
    items: _Items = []
    left, bottom = _PAD, _FIRST
    for column, key_width, width in zip(columns, keys, widths, strict=True):
        if len(column) > _ROWS:
            raise BadInput(f"figure: header: a column has {len(column)} rows, at most {_ROWS} fit")
        top = _FIRST
        for key, value in column:
            items.append((left, top, key, False))
            for line in wrap_words(value, width + 1e-6, _mono):
                items.append((left + key_width, top, line, True))
                top += _PITCH
        bottom = max(bottom, top)
        left += key_width + width + _GAP + spare
    return items, bottom


def _lay_table(rows: Sequence[Sequence[str]], inner: float, top: float) -> tuple[_Items, float]:
    """Place a table whose first row is its heads; columns as wide as their content."""
    heads = rows[0]
    natural = [
        max(_sans(head), *(_mono(row[place]) for row in rows[1:]))
        for place, head in enumerate(heads)
    ]
    fewest = [_DIGEST if head in _DIGESTS else _LEAST for head in heads]
    least = [max(_sans(h), _mono("0" * few)) for h, few in zip(heads, fewest, strict=True)]
    widths = fit_columns(natural, least, inner - _GAP * (len(heads) - 1), heads)
    spare = (inner - sum(widths) - _GAP * (len(heads) - 1)) / max(1, len(heads) - 1)
    lefts = [_PAD + sum(widths[:i]) + i * (_GAP + min(spare, 0.25)) for i in range(len(heads))]
    items: _Items = [(left, top, head, False) for left, head in zip(lefts, heads, strict=True)]
    top += _PITCH
    held = [
        [wrap_words(text, w + 1e-6, _mono) for text, w in zip(row, widths, strict=True)]
        for row in rows[1:]
    ]
    # Where a row has several lines, a gap shows where the next one begins.
    gap = _ROW_GAP if any(len(lines) > 1 for cells in held for lines in cells) else 0.0
    for cells in held:
        for left, lines in zip(lefts, cells, strict=True):
            items += [(left, top + i * _PITCH, line, True) for i, line in enumerate(lines)]
        top += _PITCH * max(map(len, cells)) + gap
    return items, top - gap


def _mono(text: str) -> float:
    return style.width_of(text, style.HEADER, mono=True)


def _sans(text: str) -> float:
    return style.width_of(text, style.HEADER)


def _key_width(keys: Sequence[str]) -> float:
    return max(map(_sans, keys)) + _KEY_GAP


def draw_box(figure: Figure, box: Box, top: float) -> None:
    """Draw the box with its upper edge `top` inches below the figure's."""
    whole = figure.get_figheight()
    left, width = style.LEFT, style.RIGHT - style.LEFT
    corner = (left / style.WIDTH, 1 - (top + box.height) / whole)
    figure.add_artist(
        Rectangle(
            corner,
            width / style.WIDTH,
            box.height / whole,
            transform=figure.transFigure,
            facecolor=style.BOX,
            edgecolor=style.RULE,
            linewidth=0.6,
            zorder=-1,
        )
    )
    style.rule(figure, left + _PAD, left + width - _PAD, top + box.rule)
    style.put(
        figure,
        left + _PAD,
        top + 0.05,
        box.caption,
        style.CAPTION,
        weight="bold",
        color=style.MUTED,
    )
    for x, y, text, mono in box.items:
        colour = style.INK if mono else style.MUTED
        style.put(figure, left + x, top + y, text, style.HEADER, mono=mono, color=colour)
