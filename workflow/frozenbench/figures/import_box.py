"""What a figure says of imported logs: the box of controls, the axis, and why lines are dashed."""

from __future__ import annotations

from typing import Any

from frozenbench.figures.inputs import Inputs
from frozenbench.import_lines import TRUNCATED, not_stated

CAPTION = "CONTROLS, AS FAR AS THE LOGS STATE THEM"
#: Figures with curves, which are dashed then.
_WITH_LINES = ("budget_curves", "pareto")
#: Marks that change what a curve means; the page has the others.
_SHOWN = ("contradiction", "no_rows", "missing_row", "null_grade", "harness_error", "overshoot")


def columns(inputs: Inputs) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return three columns: what was read, how it was cut, what its logs do not say."""
    need = inputs.controls.need
    lacking, known = need("source", "controls_not_stated"), need("source", "controls_known")
    counted = len(inputs.tasks)
    return (
        (
            ("runs", f"imported: {', '.join(need('source', 'formats'))}"),
            ("files", str(need("source", "file_count"))),
            ("sha256", str(need("source", "material", "files_sha256"))[:12]),
        ),
        (
            ("agents", str(len(inputs.agents))),
            ("tasks", f"{counted}, ids {str(need('pack', 'digest'))[:12]}"),
            ("cells", f"{inputs.cells}, {inputs.cells_expected - inputs.cells} missing"),
        ),
        (
            ("budget", "none enforced here"),
            ("own limit", _own_limit(inputs)),
            ("not stated", f"{len(lacking)} of {len(known)} controls"),
        ),
    )


def _own_limit(inputs: Inputs) -> str:
    """Return the limit of the harness, and whether the config told it in place of the logs."""
    limit = inputs.controls.get("source", "own_limit")
    if limit is None:
        return "not known"
    axis = inputs.controls.get("source", "axis")
    given = inputs.controls.get("source", "material", "source", "limits") or ()
    told = " (of the config)" if axis in given else ""
    return f"{limit} {inputs.controls.need('source', 'unit')}{told}"


def extra(inputs: Inputs) -> tuple[tuple[str, str], ...]:
    """Return the lines below: every control that is not stated, and the marks that weigh most."""
    source: dict[str, Any] = inputs.controls.need("source")
    marks = [n for n in source["notices"] if n["kind"] in _SHOWN]
    told = "; ".join(f"{notice['count']} {notice['meaning']}" for notice in marks)
    return (
        ("not stated", ", ".join(source["controls_not_stated"]) or "none"),
        *((("notices", told),) if told else ()),
    )


def axis_title(inputs: Inputs) -> str:
    """Return what the budget axis shows."""
    unit = inputs.controls.get("source", "unit")
    return "No budget: runs as they were run" if unit is None else f"Cut at: {unit} per run"


def title(inputs: Inputs) -> str:
    """Return the neutral title."""
    unit = inputs.controls.get("source", "unit")
    return "Pass rate of finished runs" if unit is None else f"Pass rate against {unit}"


def remark(inputs: Inputs) -> str:
    """Return what a cut curve is, and how much the logs leave unsaid."""
    told = not_stated(inputs.controls.need("source")).split(": ")[:2]
    count = told[1].split(":")[0]
    if inputs.controls.get("source", "axis") is None:
        return f"Finished runs as they were run; controls not stated: {count}."
    kind = f"Dashed: {TRUNCATED}" if inputs.figure in _WITH_LINES else TRUNCATED.capitalize()
    return (
        f"{kind}, a lower bound for what an agent would do under that cap; controls not stated: "
        f"{count}."
    )
