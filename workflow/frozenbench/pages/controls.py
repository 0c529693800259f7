"""The section of the results page that stands above every score: all controls, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from frozenbench.closing import pack_line, trust_counts
from frozenbench.controls import CAP_FIELDS
from frozenbench.grader_attacks import grader_attacks
from frozenbench.pack_check.stored import said
from frozenbench.pages.blocks import Cell, Section, Table, table

COLUMNS = {"max_tool_calls": "tool calls", "max_edit_rounds": "edit rounds"}
COLUMNS |= {"max_tokens": "tokens", "max_seconds": "seconds"}


def controls_section(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    responses: Mapping[str, Any] | None = None,
    pack_check: Mapping[str, Any] | None = None,
) -> Section:
    """Return the section that stands above every score."""
    pack, environment = view["pack"], controls["environment"]
    rows: list[list[Cell]] = [
        ["experiment", f"`{controls['experiment']['digest']}`"],
        ["pack", pack_line(controls, view)],
        ["pack digest", f"`{controls['pack']['digest']}`"],
        ["pack.jsonl SHA-256", f"`{pack['file_sha256']}`"],
        ["pack status, licence", f"{pack['status']}, {pack['licence']}"],
        ["pack check", said(pack_check)],
        ["weights", _weights(controls)],
        ["repeats", controls["repeats"]],
        ["grading", _grading(controls)],
        ["grader trust", trust_counts(controls)],
        ["grader attacks called PASS", grader_attacks()],
        ["metric", f"`{controls['metric']}`"],
        ["python, lock", f"{environment['python']}, `{environment['lock_sha256']}`"],
        ["isolation, network", f"{environment['isolation']}, {environment['network']}"],
        ["clock", controls["clock"]],
        ["budget disclosed", "yes" if controls["budget_disclosed"] else "no"],
        ["responses", _responses(controls, responses)],
        [
            "semantics",
            f"run {environment['run_semantics']}, grade {environment['grade_semantics']}",
        ],
    ]
    if controls["accepted"]:
        rows.append(["accepted", ", ".join(f"{k}: {v}" for k, v in controls["accepted"].items())])
    if controls["task_subset"] is not None:
        rows.append(["task subset", ", ".join(controls["task_subset"])])
    return Section(
        "controls",
        "Frozen controls",
        (
            table("What every agent shares", ["control", "value"], rows, sortable=False),
            _budgets(controls, view),
            _agents(controls, view),
        ),
    )


def _weights(controls: Mapping[str, Any]) -> str:
    counts = Counter(task["weight"] for task in controls["tasks"].values())
    return ", ".join(f"{weight} ({count} tasks)" for weight, count in sorted(counts.items()))


def _grading(controls: Mapping[str, Any]) -> str:
    if controls["grading"] == "every_step":
        return "every_step: an oracle stop, best of k; agents never see it"
    return "final: the artifact alone"


def _responses(controls: Mapping[str, Any], responses: Mapping[str, Any] | None) -> str:
    policy = str(controls["responses_policy"])
    if not responses or not responses["distinct"]:
        return f"{policy}; no model was asked"
    origin = "all from the committed record" if responses["recorded"] else "asked for this run"
    first, last = responses["first_date"], responses["last_date"]
    dates = first if first == last else f"{first} to {last}"
    return f"{policy}; {responses['distinct']} responses of {dates}, {origin}"


def _budgets(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Table:
    rows = [
        [name, *(_cap(controls["budgets"][name].get(field)) for field in CAP_FIELDS.values())]
        for name in view["budgets"]
    ]
    head = ["budget", *(COLUMNS[field] for field in CAP_FIELDS.values())]
    return table("Budgets: the caps of one run", head, rows)


def _cap(value: float | None) -> str:
    return "no cap" if value is None else f"{value:g}"


def _agents(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Table:
    rows = []
    for name in [*view["agents"], "noop", "reference"]:
        agent = controls["agents"][name]
        sheet = agent["sheet"]
        endpoint = sheet.get("endpoint", {})
        rows.append(
            [
                name + (" (control)" if agent["control"] else ""),
                sheet["adapter"] + (f", {sheet['policy']}" if "policy" in sheet else ""),
                endpoint.get("id", "none"),
                endpoint.get("model", "none"),
                sheet.get("temperature", "none"),
                sheet.get("seed", "none"),
                _tools(sheet),
                ", ".join(agent["unpinned"]) or "nothing",
                f"`{agent['sheet_digest'][:12]}`",
            ]
        )
    header = ["agent", "adapter", "endpoint", "model", "temperature", "seed", "tool schema"]
    return table("Agents: their control sheets", [*header, "unpinned", "sheet"], rows)


def _tools(sheet: Mapping[str, Any]) -> str:
    if "endpoint" not in sheet:
        return "none"
    pinned = sheet.get("tool_schema_sha256")
    return f"`{pinned[:12]}`" if pinned else "not pinned"
