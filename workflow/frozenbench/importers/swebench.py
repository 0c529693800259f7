"""SWE-bench: leaderboards with per-instance details, these details alone, and evaluation reports.

Read: `leaderboards.json` ({leaderboards: [{name, results: [{name, folder, resolved,
per_instance_details: {id: {resolved, cost, api_calls}}}]}]}), `per_instance_details.json`
({id: {…}}), a map of these by agent, and reports with `resolved_ids` (verdicts beside
trajectories). Predictions (`preds.json`) hold no outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, amount, mapping, whole
from frozenbench.importers.model import (
    OTHERS,
    Part,
    Passed,
    Published,
    Remark,
    Row,
    Unreadable,
    Use,
    Verdict,
)

#: What the harness of this leaderboard stops at, as its project states it.
LIMITS = {"bash-only": {"calls": Decimal(250), "cost": Decimal(3)}}

_DETAIL = {"resolved", "cost", "api_calls"}
#: Lists of a report whose instances are not resolved; the last three: the grader has no verdict.
_UNRESOLVED = ("unresolved_ids", "empty_patch_ids", "no_generation", "applied_but_unresolved")
_BROKEN = ("error_ids", "incomplete_ids", "no_logs")


def recognises(document: Document) -> bool:
    """Tell whether this is one of the files above."""
    head = document.head
    if isinstance(head, Mapping):
        return (
            isinstance(head.get("leaderboards"), list)
            or is_report(head)
            or _is_details(head)
            or _is_agents(head)
            or _is_predictions(head)
        )
    return False


def is_report(head: Mapping[str, Any]) -> bool:
    """Tell whether this is an evaluation report."""
    return "results" not in head and isinstance(
        head.get("resolved_ids", head.get("resolved")), list
    )


def _is_details(head: Mapping[str, Any]) -> bool:
    return bool(head) and all(
        isinstance(value, Mapping) and {"resolved"} <= set(value) <= _DETAIL
        for value in head.values()
    )


def _is_agents(head: Mapping[str, Any]) -> bool:
    return bool(head) and all(
        isinstance(value, Mapping) and _is_details(value) for value in head.values()
    )


def _is_predictions(head: Mapping[str, Any]) -> bool:
    if "model_patch" in head and "instance_id" in head:
        return True
    return bool(head) and all("model_patch" in mapping(value) for value in head.values())


def read(document: Document) -> Part:
    """Read one file.

    Raises:
        Unreadable: it is none of these.
        Passed: it holds predictions alone.
    """
    head = document.head
    if not isinstance(head, Mapping) or not recognises(document):
        raise Unreadable("is no SWE-bench leaderboard, details or report")
    if _is_predictions(head):
        raise Passed("predictions: patches without an outcome")
    if isinstance(head.get("leaderboards"), list):
        return _leaderboards(document, head["leaderboards"])
    if is_report(head):
        return Part(verdicts=(*verdicts_of(head), *_others(head)))
    agents = {document.folder or document.stem: head} if _is_details(head) else head
    rows = [
        # Another file is another set of runs, and not a second copy.
        replace(row, trial=f"{document.name} {row.task}")
        for agent, details in agents.items()
        for row in _rows(document, agent, details, {})
    ]
    return Part(rows=tuple(rows), stated={agent: {} for agent in agents})


def verdicts_of(report: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield the verdict on every instance that a report names."""
    agent = report.get("model_name_or_path")
    named = agent if isinstance(agent, str) else None
    for task in report.get("resolved_ids", report.get("resolved")):
        yield Verdict(str(task), True, named)
    for key in _UNRESOLVED:
        for task in report.get(key) or ():
            yield Verdict(str(task), False, named)
    for key in _BROKEN:
        for task in report.get(key) or ():
            yield Verdict(str(task), None, named)


def _others(report: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield the verdict on all that a report does not name: published ones list what is resolved."""
    if not {"unresolved_ids", "completed_ids"} & set(report):
        agent = report.get("model_name_or_path")
        yield Verdict(OTHERS, False, agent if isinstance(agent, str) else None)


@dataclass
class _Boards:
    """What the boards gave so far."""

    rows: list[Row] = field(default_factory=list)
    published: list[Published] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    stated: dict[str, dict[str, str]] = field(default_factory=dict)
    limits: dict[str, Mapping[str, Decimal]] = field(default_factory=dict)
    folders: dict[str, Any] = field(default_factory=dict)


def _leaderboards(document: Document, boards: Sequence[Any]) -> Part:
    """Read every board that holds details; entries without them are named, never guessed.

    A board whose details are all those of an earlier one is passed over: the same submissions
    stand on several boards, under other names.
    """
    found = _Boards()
    for board in boards:
        name = str(mapping(board).get("name"))
        entries = [mapping(entry) for entry in mapping(board).get("results") or ()]
        detailed = [entry for entry in entries if entry.get("per_instance_details")]
        if not detailed:
            continue
        if all(_is_known(entry, found.folders) for entry in detailed):
            told = f"{document.name}: board {name}: its {len(detailed)} entries with details stand"
            found.remarks.append(Remark("passed_over", f"{told} on an earlier board"))
            continue
        _board(document, name, entries, found)
    if not found.rows:
        raise Unreadable("none of its leaderboards holds per-instance details")
    return Part(
        rows=tuple(found.rows),
        published=tuple(found.published),
        stated=found.stated,
        limits=found.limits,
        remarks=tuple(found.remarks),
    )


def _is_known(entry: Mapping[str, Any], folders: Mapping[str, Any]) -> bool:
    folder = entry.get("folder")
    return folder is not None and folders.get(folder) == entry.get("per_instance_details")


def _board(
    document: Document, name: str, entries: Sequence[Mapping[str, Any]], found: _Boards
) -> None:
    names = Counter(str(entry.get("name")) for entry in entries)
    for entry in entries:
        agent = str(entry.get("name"))
        if names[agent] > 1 or agent in found.stated:
            agent = f"{agent} ({name}: {entry.get('folder')})"
        details = entry.get("per_instance_details")
        if not isinstance(details, Mapping) or not details:
            published = f"{agent} (published {entry.get('resolved')} %)"
            found.remarks.append(Remark("no_rows", published))
            continue
        found.folders[str(entry.get("folder"))] = details
        found.limits[agent] = LIMITS.get(name.lower(), {})
        found.stated[agent] = _stated(entry)
        found.rows += _rows(document, agent, details, found.limits[agent])
        found.published += _published(agent, entry)


def _stated(entry: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    if entry.get("mini-swe-agent_version"):
        found["harness version"] = f"mini-swe-agent {entry['mini-swe-agent_version']}"
    tags = [tag for tag in entry.get("tags") or () if isinstance(tag, str)]
    models = [tag.removeprefix("Model: ") for tag in tags if tag.startswith("Model: ")]
    if models:
        found["model name"] = ", ".join(models)
    return found


def _published(agent: str, entry: Mapping[str, Any]) -> Iterator[Published]:
    rate = entry.get("resolved")
    if isinstance(rate, int | Decimal) and not isinstance(rate, bool):
        digits = max(0, -int(Decimal(rate).as_tuple().exponent))
        yield Published(agent, rate=Decimal(rate) / 100, digits=digits + 2)


def _rows(
    document: Document, agent: str, details: Mapping[str, Any], limits: Mapping[str, Decimal]
) -> Iterator[Row]:
    for task, detail in details.items():
        held = mapping(detail)
        resolved = held.get("resolved")
        solved = resolved if isinstance(resolved, bool) else None
        use = Use(calls=whole(held.get("api_calls")), cost=amount(held.get("cost")))
        out = None if solved else _reached(use, limits)
        yield Row(
            agent,
            task,
            solved,
            use,
            trial=task,
            ran_out=out,
            inferred=out is not None,
            file=document.name,
        )


def _reached(use: Use, limits: Mapping[str, Decimal]) -> str | None:
    """Return the limit that an unsolved run reached: its own ending is in no detail."""
    for axis, limit in limits.items():
        value = use.on(axis)
        if value is not None and value >= limit:
            return axis
    return None
