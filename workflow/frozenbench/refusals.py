"""What refuses to print a score (PROTOCOL 9), as pure functions over the two tables.

Each refusal names the control and what would mend it. What was computed stays on disk.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from frozenbench import keys
from frozenbench.outcomes import INFRASTRUCTURE
from frozenbench.sandbox import LEVELS

#: Above this share of clock hits in the cells of one agent and budget, `clock: guard` refuses.
GUARD_SHARE = 0.01

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Refusal:
    """One reason why no score is printed."""

    control: str
    message: str
    cure: str

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON."""
        return asdict(self)


#: Every control that must stand above a score: path in the controls document.
REQUIRED = (
    ("experiment", "digest"),
    ("pack", "digest"),
    ("pack", "python"),
    ("tasks",),
    ("agents",),
    ("budgets",),
    ("repeats",),
    ("grading",),
    ("metric",),
    ("budget_disclosed",),
    ("clock",),
    ("responses_policy",),
    ("environment", "isolation"),
    ("environment", "network"),
    ("environment", "python"),
    ("environment", "run_semantics"),
    ("environment", "grade_semantics"),
)
TASK_REQUIRED = (
    "task_digest",
    "grader_digest",
    "weight",
    "split",
    "network",
    "grader_trust",
    "qualified",
)


def missing_controls(controls: Mapping[str, Any]) -> list[str]:
    """Return the dotted names of all controls that the document does not state."""
    found = []
    for path in REQUIRED:
        value: Any = controls
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None or value in ({}, []):
            found.append(".".join(path))
    for name, task in (controls.get("tasks") or {}).items():
        found += [f"tasks.{name}.{field}" for field in TASK_REQUIRED if task.get(field) is None]
    for name, budget in (controls.get("budgets") or {}).items():
        if budget.get("max_seconds") is None:
            found.append(f"budgets.{name}.max_seconds")
    for name, agent in (controls.get("agents") or {}).items():
        if not agent.get("sheet") or not agent.get("sheet_digest") or "control" not in agent:
            found.append(f"agents.{name}.sheet")
    return found


def refusals_of(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> list[Refusal]:
    """Return everything that refuses a score, in the order of PROTOCOL 9; empty: print it."""
    missing = missing_controls(controls)
    if missing:
        return [_missing(missing)]
    checks: tuple[Callable[[Mapping[str, Any], Rows, Rows], Iterator[Refusal]], ...] = (
        _missing_cells,
        _control_cells,
        _pin_drift,
        _infrastructure,
        _unmetered,
        _clock,
        _isolation,
        _machines,
    )
    return [refusal for check in checks for refusal in check(controls, cells, measured)]


def _missing(names: Sequence[str]) -> Refusal:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Refusal(names[0], f"missing control: {shown}", "run the workflow from its config again")


def _missing_cells(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    there = Counter((row["agent"], row["task"], row["budget"], row["repeat"]) for row in cells)
    due = list(keys.expected_cells(controls))
    absent = [names for names in due if there[names] != 1]
    if absent or len(cells) != len(due):
        first = " ".join(map(str, absent[0])) if absent else "a row too many"
        yield Refusal(
            "cells",
            f"{len(absent)} of {len(due)} cells are not there exactly once, the first {first}",
            "run the workflow again",
        )


def _control_cells(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    for adapter, due in (("noop", "EXHAUSTED"), ("reference", "PASS")):
        bad = [
            row
            for row in cells
            if row["control"]
            and controls["agents"][row["agent"]]["sheet"]["adapter"] == adapter
            and row["outcome"] != due
        ]
        if not bad:
            continue
        tasks = sorted({row["task"] for row in bad})
        seen = ", ".join(f"{o} {r}" for o, r in sorted({(x["outcome"], x["reason"]) for x in bad}))
        what = (
            "the starting tree is green or the harness lies"
            if adapter == "noop"
            else "the reference solution does not pass its own grader"
        )
        yield Refusal(
            f"control cells ({adapter})",
            f"{adapter} must be {due} everywhere and is {seen} in {len(bad)} cells of "
            f"{len(tasks)} tasks ({', '.join(tasks[:5])}): {what}",
            "mend the pack: `frozenbench show CELL` shows what the grader said",
        )


def _scored(cells: Rows) -> list[Row]:
    """Return the cells that enter a rate: no control cells, none with an open network."""
    return [row for row in cells if not row["control"] and row["network"] != "open"]


def _accepted(controls: Mapping[str, Any], name: str, default: Any) -> Any:
    """Return what the config accepts by name: absent means nothing."""
    return (controls.get("accepted") or {}).get(name, default)


def _pin_drift(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    drifted = {
        (row["agent"], seen["model_observed"])
        for row, seen in zip(cells, measured, strict=True)
        if row["reason"] == "pin_drift"
    }
    for agent, observed in sorted(drifted, key=str):
        pinned = controls["agents"][agent]["sheet"]["endpoint"]["model"]
        if observed == pinned:
            yield Refusal(
                f"agents.{agent}.tool_schema_sha256",
                "stale: the tools that it offers are not the pinned ones (the run's log names both)",
                "pin the tools that it offers now: a new experiment",
            )
            continue
        yield Refusal(
            f"agents.{agent}.endpoint.model",
            f"stale: pinned is {pinned!r}, the endpoint answers as {observed!r}",
            "pin the model that is there now: a new experiment",
        )


def _infrastructure(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    scored = _scored(cells)
    bad = [
        row
        for row in scored
        if row["outcome"] == "ERROR"
        and row["reason"] in INFRASTRUCTURE
        and row["reason"] != "pin_drift"  # refused by its own name, and no retry mends it
    ]
    accepted = _accepted(controls, "accept_error_share", 0.0)
    if scored and len(bad) > accepted * len(scored):
        reasons = Counter(row["reason"] for row in bad)
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        yield Refusal(
            "accept_error_share",
            f"{len(bad)} of {len(scored)} cells ended in an infrastructure ERROR ({told}); "
            f"accepted are {accepted:g}",
            "`frozenbench retry`, then run the workflow again",
        )


def _unmetered(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    accepted = _accepted(controls, "accept_unmetered", [])
    counts = Counter(row["agent"] for row in _scored(cells) if row["unmetered"])
    for agent, count in sorted(counts.items()):
        if agent not in accepted:
            yield Refusal(
                "max_tokens",
                f"{agent}: tokens are not reported in {count} cells, so their cap was not enforced",
                f"make it report them, or accept it by name: accept_unmetered: [{agent}]",
            )


def _clock(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    if controls["clock"] != "guard":
        return
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in _scored(cells):
        counts[row["agent"], row["budget"]].append(row["cap_hit"] == "wall_clock")
    for (agent, budget), hits in sorted(counts.items()):
        if sum(hits) > GUARD_SHARE * len(hits):
            yield Refusal(
                "clock",
                f"{agent} under {budget}: the wall clock decided {sum(hits)} of {len(hits)} cells "
                f"(guard: 1 %), so the machine's speed is in the score",
                "raise max_seconds, or use an axis in seconds with clock: strict",
            )


def _isolation(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    asked = controls["environment"]["isolation"]
    less = {
        row["isolation_measured"]
        for row in measured
        if LEVELS.index(row["isolation_measured"]) < LEVELS.index(asked)
    }
    if less:
        yield Refusal(
            "isolation",
            f"asked for is {asked}, measured was {', '.join(sorted(less))}",
            "run the cells again where the level can be had, or ask for less: a new experiment",
        )


def _machines(controls: Mapping[str, Any], cells: Rows, measured: Rows) -> Iterator[Refusal]:
    clocked = any(row["cap_hit"] == "wall_clock" for row in _scored(cells))
    classes = sorted({row["machine_class"] for row in measured})
    if clocked and len(classes) > 1:
        yield Refusal(
            "machine_class",
            f"the clock decided cells on different machine classes: {', '.join(classes)}",
            "run all cells on one class",
        )
