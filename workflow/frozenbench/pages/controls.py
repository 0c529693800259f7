"""The section of the results page that stands above every score: all controls, as tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from frozenbench.closing import trust_counts
from frozenbench.controls import CAP_FIELDS
from frozenbench.grader_attacks import grader_attacks
from frozenbench.pack_check.stored import said
from frozenbench.pages.blocks import Cell, Paragraph, Section, Table, code, count, plain, table
from frozenbench.pages.inputs import task_name

COLUMNS = {"max_tool_calls": "tool calls", "max_edit_rounds": "edit rounds"}
COLUMNS |= {"max_tokens": "tokens", "max_seconds": "seconds"}
#: Different weights that are counted one by one, and characters of a sheet's value that are shown.
_WEIGHTS, _VALUE, _DIGEST = 12, 120, 12
#: What the first table of agents shows of a sheet.
_SHOWN = (
    *("adapter", "policy", "endpoint.id", "endpoint.model", "temperature", "seed"),
    "tool_schema_sha256",
)


def controls_section(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    responses: Mapping[str, Any],
    pack_check: Mapping[str, Any] | None,
) -> Section:
    """Return the section that stands above every score."""
    pack, environment = view["pack"], controls["environment"]
    rows: list[list[Cell]] = [
        ["experiment", f"`{controls['experiment']['digest']}`"],
        ["pack", _pack(controls, pack)],
        ["pack digest", f"`{controls['pack']['digest']}`"],
        ["pack.jsonl SHA-256", f"`{pack['file_sha256']}`"],
        ["pack status, licence", f"{plain(pack['status'])}, {plain(pack['licence'])}"],
        ["pack check", plain(said(_without_names(controls, pack_check)))],
        ["weights", _weights(controls)],
        ["repeats", controls["repeats"]],
        ["grading", _grading(controls)],
        ["grader trust", trust_counts(controls)],
        ["grader attacks called PASS", grader_attacks()],
        ["metric", f"`{controls['metric']}`"],
        ["python, lock", f"{environment['python']}, {_lock(environment['lock_sha256'])}"],
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
        rows.append(["task subset", _tasks(controls, controls["task_subset"])])
    return Section(
        "controls",
        "Frozen controls",
        (
            table("What every agent shares", ["control", "value"], rows, sortable=False),
            _budgets(controls, view),
            _agents(controls, view),
            *_rest(controls, view),
            Paragraph(
                "`controls.json` beside this page holds every sheet and every task in full; so does the "
                "metadata of each table."
            ),
        ),
    )


def _pack(controls: Mapping[str, Any], pack: Mapping[str, Any]) -> str:
    tasks = controls["tasks"].values()
    subset = "" if controls["task_subset"] is None else ", a SUBSET of the pack's tasks"
    told = f"{plain(pack['name'])}, {count(len(tasks), 'task')}{subset}"
    unqualified = [name for name, task in controls["tasks"].items() if not task["qualified"]]
    if unqualified:
        told += f"; unqualified (no reference solution): {_tasks(controls, unqualified)}"
    return told


def _without_names(
    controls: Mapping[str, Any], check: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return a pack check whose findings name no held-out task."""
    if check is None:
        return None
    found = [
        {**item, "task": task_name(controls, item["task"])}
        if item["task"] in controls["tasks"]
        else item
        for item in check["findings"]
    ]
    return {**check, "findings": found}


def _tasks(controls: Mapping[str, Any], tasks: Iterable[str]) -> str:
    return ", ".join(plain(task_name(controls, task)) for task in tasks)


def _weights(controls: Mapping[str, Any]) -> str:
    weights = Counter(task["weight"] for task in controls["tasks"].values())
    if len(weights) == 1:
        return f"{next(iter(weights)):,} for each task"
    if len(weights) > _WEIGHTS:
        return f"{min(weights):,} to {max(weights):,}; controls.json names that of each task"
    return "; ".join(f"{weight:,}: {count(n, 'task')}" for weight, n in sorted(weights.items()))


def _lock(digest: str | None) -> str:
    return "no lock" if digest is None else f"`{digest}`"


def _grading(controls: Mapping[str, Any]) -> str:
    if controls["grading"] == "every_step":
        return "every_step: an oracle stop, best of k; agents never see it"
    return "final: the artifact alone"


def _responses(controls: Mapping[str, Any], responses: Mapping[str, Any]) -> str:
    policy = str(controls["responses_policy"])
    if not responses["distinct"]:
        return f"{policy}; no model was asked"
    origin = "all from the committed record" if responses["recorded"] else "asked for this run"
    first, last = responses["first_date"], responses["last_date"]
    dates = first if first == last else f"{first} to {last}"
    return f"{policy}; {count(responses['distinct'], 'response')} of {dates}, {origin}"


def _budgets(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Table:
    rows = [
        [
            plain(name),
            *(_cap(controls["budgets"][name].get(field)) for field in CAP_FIELDS.values()),
        ]
        for name in view["budgets"]
    ]
    head = ["budget", *(COLUMNS[field] for field in CAP_FIELDS.values())]
    return table("Budgets: the caps of one run", head, rows)


def _cap(value: float | None) -> str:
    return "no cap" if value is None else f"{value:,.10g}"


def _agents(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for name in [*view["agents"], "noop", "reference"]:
        agent = controls["agents"][name]
        sheet = agent["sheet"]
        endpoint = sheet.get("endpoint", {})
        rows.append(
            [
                plain(name) + (" (control)" if agent["control"] else ""),
                plain(sheet["adapter"] + (f", {sheet['policy']}" if "policy" in sheet else "")),
                plain(endpoint.get("id", "none")),
                plain(endpoint.get("model", "none")),
                sheet.get("temperature", "none"),
                sheet.get("seed", "none"),
                _tools(sheet),
                ", ".join(map(loose_control, agent["unpinned"])) or "nothing",
                f"`{agent['sheet_digest'][:12]}`",
            ]
        )
    header = ["agent", "adapter", "endpoint", "model", "temperature", "seed", "tool schema"]
    return table("Agents: their control sheets", [*header, "unpinned", "sheet"], rows)


def loose_control(name: str) -> str:
    """Return what a sheet leaves open in words: its weights are the model's, not the tasks'."""
    return "model weights" if name == "weights" else plain(name)


def _tools(sheet: Mapping[str, Any]) -> str:
    """Return the pinned tools; an agent in a loop of ours offers its model none."""
    if "endpoint" not in sheet or sheet["adapter"] == "chat":
        return "none"
    pinned = sheet.get("tool_schema_sha256")
    return f"`{pinned[:12]}`" if pinned else "not pinned"


def _rest(controls: Mapping[str, Any], view: Mapping[str, Any]) -> Iterator[Table]:
    """Yield what else the agents' sheets hold, and first what is the same in all of them."""
    sheets = {
        name: {k: v for k, v in flat(controls["agents"][name]["sheet"]) if k not in _SHOWN}
        for name in view["agents"]
    }
    first, *others = sheets.values()
    common = {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
    rows: list[list[Cell]] = [["all of them", _told(common)]] if common else []
    for name, sheet in sheets.items():
        own = {key: value for key, value in sheet.items() if key not in common}
        if own:
            rows.append([plain(name), _told(own)])
    if rows:
        head = ["agent", "control and value"]
        yield table("Agents: the rest of their sheets", head, rows, sortable=False, stacked=True)


def _told(controls: Mapping[str, str]) -> str:
    return "; ".join(f"{code(name)} {plain(value)}" for name, value in controls.items())


def flat(sheet: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted name, value in one line) of everything in a sheet; a long value is cut."""
    for name, value in sheet.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}.")
        else:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            told = " ".join(told.split())
            most = _DIGEST if name.endswith("sha256") else _VALUE
            yield above + name, told if len(told) <= most else f"{told[:most]}…"
