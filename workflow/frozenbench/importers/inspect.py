"""Inspect: `.eval` archives, deflated or with Zstandard, and `.json` logs.

What ran out stands in each sample's `limit.type`, while the eval's status stays "success";
`config.limit` is a number of samples and no budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Archive, Document, added, amount, mapping, whole
from frozenbench.importers.model import CAP_CONTROLS, Part, Remark, Row, Unreadable, Use

_LIMITS = {
    "token_limit": "tokens",
    "time_limit": "seconds",
    "working_limit": "seconds",
    "cost_limit": "cost",
    "message_limit": "steps",
    "turn_limit": "steps",
}
#: limit.type -> what ran out.
_RAN_OUT = {
    "token": "tokens",
    "time": "seconds",
    "working": "seconds",
    "cost": "cost",
    "message": "messages",
    "turn": "steps",
    "context": "context",
}
_LETTERS = {"C": True, "I": False, "P": False, "N": False}


def recognises(document: Document) -> bool:
    """Tell whether this is a log of Inspect."""
    if document.suffix == ".eval":
        return True
    head = document.head
    return isinstance(head, Mapping) and "eval" in head and "status" in head


def read(document: Document) -> Part:
    """Read one log.

    Raises:
        Unreadable: it is none of Inspect, or a member of the archive is broken.
    """
    if not recognises(document):
        raise Unreadable("is no log of Inspect")
    if document.suffix != ".eval":
        return _log(document, document.head, iter(document.head.get("samples") or ()))
    with Archive(document.path) as archive:
        name = next((n for n in ("header.json", "_journal/start.json") if n in archive.names), None)
        if name is None:
            raise Unreadable("holds neither header.json nor _journal/start.json")
        samples = (archive.json(n) for n in archive.names if n.startswith("samples/"))
        return _log(document, mapping(archive.json(name)), samples)


def _log(document: Document, head: Mapping[str, Any], samples: Iterator[Any]) -> Part:
    evaluated = mapping(head.get("eval"))
    agent, task = str(evaluated.get("model")), str(evaluated.get("task"))
    solver = evaluated.get("solver")
    if isinstance(solver, str) and solver:
        agent = f"{agent} {solver}"
    config = mapping(evaluated.get("config"))
    limits = {axis: value for key, axis in _LIMITS.items() if (value := amount(config.get(key)))}
    scorer = _scorer(mapping(head.get("results")))
    rows, remarks = [], []
    for sample in samples:
        names = (agent, task, str(evaluated.get("run_id")))
        row, told = _row(document, mapping(sample), names, scorer)
        rows.append(row)
        remarks += [Remark(kind, f"{row.task} of {agent}") for kind in told]
    status = head.get("status", "not ended")
    if status != "success":
        remarks.append(Remark("unfinished_log", f"{document.name}: status {status}"))
    ids = mapping(evaluated.get("dataset")).get("sample_ids") or ()
    return Part(
        rows=tuple(rows),
        stated={agent: _stated(evaluated, limits)},
        limits={agent: {axis: v for axis, v in limits.items() if axis != "steps"}},
        expected=tuple((agent, f"{task}/{sample}") for sample in ids),
        remarks=tuple(remarks),
    )


def _stated(evaluated: Mapping[str, Any], limits: Mapping[str, Decimal]) -> dict[str, str]:
    found = {CAP_CONTROLS[axis]: str(value) for axis, value in limits.items()}
    found["model name"] = str(evaluated.get("model"))
    packages = mapping(evaluated.get("packages"))
    if packages:
        found["harness version"] = ", ".join(f"{k} {v}" for k, v in sorted(packages.items()))
    generate = mapping(evaluated.get("model_generate_config"))
    for key in ("temperature", "seed"):
        if generate.get(key) is not None:
            found[key] = str(generate[key])
    return found


def _scorer(results: Mapping[str, Any]) -> str | None:
    headline = mapping(results.get("headline")).get("score")
    scores = results.get("scores") or ()
    if isinstance(scores, Mapping):
        return headline or next(iter(scores), None)
    names = [mapping(score).get("name") for score in scores]
    return headline if headline else next((str(name) for name in names if name), None)


def _row(
    document: Document, sample: Mapping[str, Any], names: tuple[str, str, str], scorer: str | None
) -> tuple[Row, list[str]]:
    agent, task, run = names
    solved, told = _solved(mapping(sample.get("scores")), sample.get("score"), scorer)
    limit = mapping(sample.get("limit"))
    kind = limit.get("type")
    ending = None if kind is None else f"limit: {kind}"
    error = "sample_error" if sample.get("error") else None
    if kind == "operator":
        error = "stopped_by_operator"
    if kind is not None and kind not in _RAN_OUT and kind != "operator":
        ending = f"unknown: limit {kind}: {str(limit.get('reason'))[:80]}"
    epoch = whole(sample.get("epoch")) or 1
    row = Row(
        agent,
        f"{task}/{sample.get('id')}",
        solved,
        _use(sample),
        repeat=epoch - 1,
        run=document.name,
        trial=str(sample.get("uuid") or f"{run} {task} {sample.get('id')} epoch {epoch}"),
        ending=ending,
        ran_out=_RAN_OUT.get(str(kind)),
        error=error if error or solved is not None else "no_grade",
        file=document.name,
    )
    return row, told


def _solved(
    scores: Mapping[str, Any], single: Any, scorer: str | None
) -> tuple[bool | None, list[str]]:
    """Return the verdict of one scorer, and what a reader must be told of it."""
    if not scores and single is not None:  # logs of the first version held one score
        scores = {"score": single}
    if not scores:
        return None, []
    told = ["several_scorers"] if len(scores) > 1 else []
    chosen: str = scorer if scorer is not None and scorer in scores else next(iter(scores))
    value = mapping(scores[chosen]).get("value")
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, str) and value in _LETTERS:
        return _LETTERS[value], told + (["partial_grade"] if value == "P" else [])
    if isinstance(value, bool):
        return value, told
    if isinstance(value, int | Decimal):
        return value == 1, told + ([] if value in (0, 1) else ["partial_grade"])
    return None, told


def _use(sample: Mapping[str, Any]) -> Use:
    usages = [mapping(usage) for usage in mapping(sample.get("model_usage")).values()]

    def summed(key: str) -> int | None:
        return added(*(whole(usage.get(key)) for usage in usages))

    costs = [amount(usage.get("total_cost")) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    events = sample.get("events") or mapping(sample.get("transcript")).get("events") or []
    calls = [event for event in events if mapping(event).get("event") == "model"]
    messages = sample.get("messages") or []
    seconds = amount(sample.get("working_time"))
    return Use(
        calls=len(calls) if events else None,
        steps=sum(mapping(message).get("role") == "assistant" for message in messages),
        tokens=summed("total_tokens"),
        tokens_input=summed("input_tokens"),
        tokens_output=summed("output_tokens"),
        tokens_cached=summed("input_tokens_cache_read"),
        cost=sum(known, Decimal(0)) if costs and len(known) == len(costs) else None,
        seconds=seconds if seconds is not None else amount(sample.get("total_time")),
    )
