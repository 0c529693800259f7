"""The closing lines: the same few for the end of a run and for `frozenbench show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from frozenbench.controls import CAP_FIELDS, is_imported
from frozenbench.grader_attacks import grader_attacks
from frozenbench.import_lines import source_lines
from frozenbench.number_text import count
from frozenbench.pack_check.stored import said

Rows = Sequence[Mapping[str, Any]]


def pack_line(controls: Mapping[str, Any], view: Mapping[str, Any]) -> str:
    """Return the line on the pack: name, status, digest, tasks, weights, and what is unqualified."""
    weights = [task["weight"] for task in controls["tasks"].values()]
    unqualified = [name for name, task in controls["tasks"].items() if not task["qualified"]]
    listed = (
        f"; unqualified (no reference solution): {', '.join(unqualified)}" if unqualified else ""
    )
    subset = "" if controls["task_subset"] is None else ", a SUBSET of the pack's tasks"
    return (
        f"pack {view['pack']['name']} ({view['pack']['status']}) {controls['pack']['digest'][:12]}, "
        f"{count(len(weights), 'task')}, {_span(weights)}{subset}{listed}"
    )


def _span(weights: Sequence[int]) -> str:
    low, high = min(weights), max(weights)
    return f"weight {low} each" if low == high else f"weights {low} to {high}"


def trust_counts(controls: Mapping[str, Any]) -> str:
    """Return how many tasks are graded at each trust level."""
    counts = Counter(task["grader_trust"] for task in controls["tasks"].values())
    return ", ".join(f"{level} ({count(held, 'task')})" for level, held in sorted(counts.items()))


def budget_line(name: str, budget: Mapping[str, Any]) -> str:
    """Return the line on one budget: every cap, absent ones said."""
    caps = [
        f"{meter} {budget[field]:g}" if field in budget else f"{meter} no cap"
        for meter, field in CAP_FIELDS.items()
    ]
    return f"budget {name}: {', '.join(caps)}"


def environment_line(controls: Mapping[str, Any]) -> str:
    """Return the line on what all agents share."""
    environment = controls["environment"]
    lock = environment["lock_sha256"]
    oracle = " (oracle stop)" if controls["grading"] == "every_step" else ""
    return (
        f"environment python {environment['python']}, lock {lock[:12] if lock else 'none'}, isolation "
        f"{environment['isolation']}, network {environment['network']}, grading "
        f"{controls['grading']}{oracle}, clock {controls['clock']}"
    )


def accepted_lines(controls: Mapping[str, Any]) -> list[str]:
    """Return what the config accepted by name, if anything."""
    accepted = controls["accepted"]
    return [f"accepted {name}: {value}" for name, value in sorted(accepted.items())]


def score_lines(rows: Rows) -> list[str]:
    """Return one line for each slice, budget and agent: n, rates and mean tools."""
    width = max((len(row["agent"]) for row in rows), default=0)
    budgets = max((len(row["budget"]) for row in rows), default=0)
    slices = {row["slice"] for row in rows}
    lines = []
    for row in rows:
        tools = row["mean_tool_calls"]
        told = "" if slices == {"public"} else f"{row['slice']}  "
        lines.append(
            f"{told}{row['budget']:<{budgets}}  {row['agent']:<{width}}  n={row['n']} "
            f"pass={row['pass_rate']:.3f} weighted={row['weighted_pass_rate']:.3f} "
            f"assume={_rate(row['assume_rate'])} exhaust={row['exhaust_rate']:.3f} "
            f"mean_tools={'null' if tools is None else f'{tools:.2f}'}"
        )
    return lines


def _rate(value: float | None) -> str:
    return "null" if value is None else f"{value:.3f}"


def flip_lines(statistics: Mapping[str, Any]) -> list[str]:
    """Return what was found of flips: a line for each slice, named as the scores name it."""
    slices: Mapping[str, Mapping[str, Any]] = statistics["slices"]
    named = set(slices) != {"public"}
    order = sorted(slices, key=lambda name: name != "public")  # as the scores stand
    return [f"flips{f' in {name}' if named else ''}: {_flips(slices[name])}" for name in order]


def _flips(facts: Mapping[str, Any]) -> str:
    told = (
        f"{facts['confirmed_pairs']} confirmed, {facts['suggestive_pairs']} suggestive among "
        f"{count(facts['pairs'], 'pair')}"
    )
    if facts["cannot_confirm"]:
        return f"{told}; this pack cannot confirm a flip"
    if facts["few_tasks"]:
        are = "is" if facts["n_tasks"] == 1 else "are"
        return f"{told}; {count(facts['n_tasks'], 'task')} {are} few for so many contrasts"
    return told


def closing_lines(
    controls: Mapping[str, Any],
    view: Mapping[str, Any],
    summary: Rows,
    statistics: Mapping[str, Any],
    pack_check: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return all closing lines: controls first, then the scores, then flips."""
    experiment = controls["experiment"]
    if is_imported(controls):
        return [
            f"experiment {experiment['name']} {experiment['digest'][:12]}",
            *source_lines(controls),
            *score_lines(summary),
            *flip_lines(statistics),
        ]
    return [
        f"experiment {experiment['name']} {experiment['digest'][:12]}",
        pack_line(controls, view),
        f"pack check: {said(pack_check)}",
        f"grader trust: {trust_counts(controls)}",
        f"grader attacks called PASS: {grader_attacks()}",
        *(budget_line(name, controls["budgets"][name]) for name in view["budgets"]),
        environment_line(controls),
        *accepted_lines(controls),
        *score_lines(summary),
        *flip_lines(statistics),
    ]


def refusal_lines(refusals: Sequence[Mapping[str, str]]) -> list[str]:
    """Return what refuses the score, each with its cure."""
    lines = [f"no score is printed: {len(refusals)} thing(s) refuse it"]
    for refusal in refusals:
        lines.append(f"  {refusal['control']}: {refusal['message']}")
        lines.append(f"    cure: {refusal['cure']}")
    return lines
