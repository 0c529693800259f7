"""Harbor: a trial's `result.json` with its ATIF trajectory, and ATIF trajectories alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from frozenbench.importers import atif
from frozenbench.importers.documents import (
    Document,
    added,
    amount,
    between,
    mapping,
    parse,
    whole,
)
from frozenbench.importers.model import Part, Passed, Remark, Row, Unreadable, Use

_TRIAL = {"task_name", "trial_name"}
_TIMEOUTS = {"AgentTimeoutError": "seconds"}


def recognises(document: Document) -> bool:
    """Tell whether this is a trial's or a job's result, or a trajectory."""
    head = document.head
    if atif.is_trajectory(head):
        return True
    return isinstance(head, Mapping) and (set(head) >= _TRIAL or _is_job(head))


def _is_job(head: Mapping[str, Any]) -> bool:
    return {"stats", "n_total_trials"} <= set(head)


def read(document: Document) -> Part:
    """Read one file.

    Raises:
        Unreadable: it is none of these.
        Passed: it is read with another file, or holds sums alone.
    """
    head = document.head
    if not recognises(document):
        raise Unreadable("is no result.json of a Harbor trial and no ATIF trajectory")
    if atif.is_trajectory(head):
        return _trajectory(document, head)
    if _is_job(head):
        raise Passed("sums of a job: its trials are read from their own files")
    return _trial(document, head)


def _trajectory(document: Document, log: Mapping[str, Any]) -> Part:
    if (document.path.parent.parent / "result.json").is_file():
        raise Passed("the trajectory of a trial: read with its result.json")
    if atif.is_continuation(log):
        raise Passed("a later part of a trajectory: read with its first part")
    about = mapping(log.get("agent"))
    agent = _named(about.get("name"), about.get("model_name"))
    use, gone = atif.whole_use(document, log)
    row = Row(agent, document.stem, None, use, run=document.folder, file=document.name)
    stated = _stated(about.get("name"), about.get("version"), about.get("model_name"))
    extra = mapping(about.get("extra"))
    if extra.get("temperature") is not None:
        stated["temperature"] = str(extra["temperature"])
    remarks = tuple(Remark("part_missing", f"{document.name}: {name}") for name in gone)
    return Part(rows=(row,), stated={agent: stated}, remarks=remarks)


def _trial(document: Document, log: Mapping[str, Any]) -> Part:
    about = mapping(log.get("agent_info"))
    model = mapping(about.get("model_info")).get("name")
    agent = _named(about.get("name"), model)
    kind = mapping(log.get("exception_info")).get("exception_type")
    ending = str(kind) if kind else None
    solved, partial = _solved(mapping(mapping(log.get("verifier_result")).get("rewards")))
    error = None
    if ending == "VerifierTimeoutError":
        error = "verifier_timeout"
    elif ending is not None and ending not in _TIMEOUTS:
        error = "harness_broken"
    elif solved is None:
        error = "no_grade"
    row = Row(
        agent,
        str(log["task_name"]),
        solved,
        _use(document, log),
        run=PurePosixPath(document.name).parent.parent.as_posix(),
        trial=str(log["trial_name"]),
        ending=ending,
        ran_out=_TIMEOUTS.get(ending or ""),
        error=error,
        file=document.name,
    )
    remarks = (Remark("partial_grade", f"{row.task} of {agent}"),) if partial else ()
    stated = {agent: _stated(about.get("name"), about.get("version"), model)}
    if log.get("task_checksum"):
        stated[agent]["task pack digest"] = "a check sum of each task"
    return Part(rows=(row,), stated=stated, remarks=remarks)


def _solved(rewards: Mapping[str, Any]) -> tuple[bool | None, bool]:
    value = rewards.get("reward")
    if value is None and len(rewards) == 1:
        value = next(iter(rewards.values()))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return (value if isinstance(value, bool) else None), False
    return value == 1, value not in (0, 1)


def _use(document: Document, log: Mapping[str, Any]) -> Use:
    """Return the use that the result tells, with the calls and steps of its trajectory."""
    result, clock = mapping(log.get("agent_result")), mapping(log.get("agent_execution"))
    sent, received = whole(result.get("n_input_tokens")), whole(result.get("n_output_tokens"))
    known = sent is not None and received is not None
    own = Use(
        tokens=added(sent, received) if known else None,
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=whole(result.get("n_cache_tokens")),
        cost=amount(result.get("cost_usd")),
        seconds=between(clock.get("started_at"), clock.get("finished_at")),
    )
    path = document.path.parent / "agent" / "trajectory.json"
    if not path.is_file():
        return own
    try:
        value = parse(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, Unreadable):
        return own
    if not atif.is_trajectory(value):
        return own
    use, _ = atif.whole_use(Document(path, path.name), value)
    return replace(own, calls=use.calls, steps=use.steps)


def _named(name: Any, model: Any) -> str:
    return " ".join(str(part) for part in (name, model) if part) or "unnamed"


def _stated(name: Any, version: Any, model: Any) -> dict[str, str]:
    found = {}
    if version:
        found["harness version"] = f"{name} {version}"
    if model:
        found["model name"] = str(model)
    return found
