"""SWE-bench: leaderboards with per-instance details, these details alone, and evaluation reports.

Read: `leaderboards.json` ({leaderboards: [{name, results: [{name, folder, resolved,
per_instance_details: {id: {resolved, cost, api_calls}}}]}]}), `per_instance_details.json`
({id: {…}}), a map of these by agent, and reports with `resolved_ids` (verdicts beside
trajectories). The harness also writes one report for each instance, into
`logs/run_evaluation/RUN/MODEL/ID/report.json` ({id: {patch_is_None, patch_exists,
patch_successfully_applied, resolved, tests_status}}, the last where it was asked for): it speaks of
this instance alone. Predictions (`preds.json`) hold no outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from frozenbench.importers.documents import Document, mapping
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
from frozenbench.importers.uses import Uses, written

#: What the harness of this leaderboard stops at, as its project states it.
LIMITS = {"bash-only": {"calls": Decimal(250), "cost": Decimal(3)}}

_DETAIL = {"resolved", "cost", "api_calls"}
#: What a report on one instance says of its patch, and no other file does.
_PATCH = {"patch_is_None", "patch_exists", "patch_successfully_applied"}
#: The folder of the harness in which its runs lie.
_EVALUATIONS = "run_evaluation"
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
            or _is_instances(head)
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


def _is_instances(head: Mapping[str, Any]) -> bool:
    """Tell whether this is the harness's report on one instance, or several of them in one file."""
    return bool(head) and all(
        isinstance(value, Mapping) and "resolved" in value and bool(_PATCH & set(value))
        for value in head.values()
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
    uses = Uses(document.name)
    if _is_instances(head):
        verdicts = tuple(_of_instances(document, head, uses))
        return Part(verdicts=verdicts, remarks=tuple(uses.remarks))
    agents = {document.folder or document.stem: head} if _is_details(head) else head
    rows = [
        # Another file is another set of runs, and not a second copy.
        replace(row, trial=f"{document.name} {row.task}")
        for agent, details in agents.items()
        for row in _rows(document, agent, details, {}, uses if details is head else uses.of(agent))
    ]
    stated: dict[str, dict[str, str]] = {agent: {} for agent in agents}
    return Part(rows=tuple(rows), stated=stated, remarks=tuple(uses.remarks), retold=True)


def verdicts_of(report: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield the verdict on every instance that a report names.

    Raises:
        Unreadable: what it lists is no list of names.
    """
    agent = report.get("model_name_or_path")
    named = agent if isinstance(agent, str) else None
    first = "resolved_ids" if "resolved_ids" in report else "resolved"
    solved: dict[str, bool | None] = {first: True}
    solved |= dict.fromkeys(_UNRESOLVED, False) | dict.fromkeys(_BROKEN)
    for key, verdict in solved.items():
        for task in names_in(report, key):
            yield Verdict(task, verdict, named)


def names_in(report: Mapping[str, Any], key: str) -> list[str]:
    """Return the tasks that stand in a list of a report; none where it has no such list.

    Raises:
        Unreadable: it is no list of names.
    """
    held = report.get(key)
    if held is None:
        return []
    if not isinstance(held, list):
        raise Unreadable(f"{key}: {written(held)} is no list of tasks")
    odd = next((place for place, task in enumerate(held) if not isinstance(task, str)), None)
    if odd is not None:
        raise Unreadable(f"{key}[{odd}]: {written(held[odd])} is no name of a task")
    return held


def _of_instances(document: Document, head: Mapping[str, Any], uses: Uses) -> Iterator[Verdict]:
    """Yield the verdict on every instance of a file; those of one harness's run are one report.

    A grader that did not come to its end leaves no file.
    """
    place = PurePosixPath(document.name).parent
    alone, folder, agent = next(iter(head)) if len(head) == 1 else None, "", None
    if alone == document.folder:
        folder, above = place.parent.as_posix(), document.place.parts[:-1]
        agent = above[-2] if above[-4:-3] == (_EVALUATIONS,) else None
    elif alone == document.stem:
        folder = place.as_posix()
    for task, value in head.items():
        solved = uses.of(task).verdict("resolved", mapping(value).get("resolved"))
        yield Verdict(task, solved, agent, folder=folder)


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
    uses = Uses(document.name)
    for place, board in enumerate(boards):
        name = str(mapping(board).get("name") or f"leaderboards[{place}]")
        found.remarks += _no_entries(name, board)
        held = mapping(board).get("results")
        entries = [e for e in held if isinstance(e, Mapping)] if isinstance(held, list) else []
        detailed = [entry for entry in entries if entry.get("per_instance_details")]
        if not detailed:
            continue
        if all(_is_known(entry, found.folders) for entry in detailed):
            told = f"{document.name}: board {name}: its {len(detailed)} entries with details stand"
            found.remarks.append(Remark("passed_over", f"{told} on an earlier board"))
            continue
        _board(document, name, entries, found, uses)
    if not found.rows:
        raise Unreadable("none of its leaderboards holds per-instance details")
    return Part(
        rows=tuple(found.rows),
        published=tuple(found.published),
        stated=found.stated,
        limits=found.limits,
        remarks=(*found.remarks, *uses.remarks),
    )


def _no_entries(name: str, board: Any) -> Iterator[Remark]:
    """Yield the entries of a board that are no objects, each by its place."""
    if not isinstance(board, Mapping):
        yield Remark("no_rows", f"{name}: {written(board)} is no board")
        return
    held = board.get("results")
    if held is not None and not isinstance(held, list):
        yield Remark("no_rows", f"{name}: results: {written(held)} is no list of entries")
        return
    for place, entry in enumerate(held or ()):
        if not isinstance(entry, Mapping):
            yield Remark("no_rows", f"{name}: results[{place}]: {written(entry)} is no entry")


def _is_known(entry: Mapping[str, Any], folders: Mapping[str, Any]) -> bool:
    folder = entry.get("folder")
    if not isinstance(folder, str) or folder not in folders:
        return False
    return bool(folders[folder] == entry.get("per_instance_details"))


def _board(
    document: Document,
    name: str,
    entries: Sequence[Mapping[str, Any]],
    found: _Boards,
    uses: Uses,
) -> None:
    names = Counter(map(_name, entries))
    for entry in entries:
        agent = _name(entry)
        if names[agent] > 1 or agent in found.stated:
            agent = f"{agent} ({name}: {entry.get('folder')})"
        details = entry.get("per_instance_details")
        if not isinstance(details, Mapping) or not details:
            rate = entry.get("resolved")
            told = agent if rate is None else f"{agent} (published {rate} %)"
            found.remarks.append(Remark("no_rows", told))
            continue
        found.folders[str(entry.get("folder"))] = details
        found.limits[agent] = LIMITS.get(name.lower(), {})
        found.stated[agent] = _stated(entry)
        found.rows += _rows(document, agent, details, found.limits[agent], uses.of(agent))
        found.published += _published(agent, entry)


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("folder") or "unnamed")


def _stated(entry: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    if entry.get("mini-swe-agent_version"):
        found["harness version"] = f"mini-swe-agent {entry['mini-swe-agent_version']}"
    held = entry.get("tags")
    tags = [tag for tag in held if isinstance(tag, str)] if isinstance(held, list) else []
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
    document: Document,
    agent: str,
    details: Mapping[str, Any],
    limits: Mapping[str, Decimal],
    uses: Uses,
) -> Iterator[Row]:
    for task, detail in details.items():
        held, own = mapping(detail), uses.of(task)
        resolved = held.get("resolved")
        solved = own.verdict("resolved", resolved)
        calls, cost = own.whole("api_calls", held.get("api_calls")), held.get("cost")
        use = Use(calls=calls, cost=own.amount("cost", cost))
        out = None if solved else _reached(use, limits)
        yield Row(
            agent,
            task,
            solved,
            use,
            trial=task,
            ran_out=out,
            error="unclear_grade" if solved is None and resolved is not None else None,
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
