"""OpenHands: `output.jsonl` of its benchmarks and resolver, their verdicts, and event lists.

Verdicts of the benchmarks stand in `*.swebench_eval.jsonl`; the resolver's `success` is its own
judgement, which the notices say. A cost of 0 beside tokens is an unknown price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, added, amount, between, mapping, whole
from frozenbench.importers.model import Part, Remark, Row, Unreadable, Use, Verdict

#: Words of the controller in `error` -> what ran out.
_BUDGET = {
    "Agent reached maximum iteration": "steps",
    "Agent reached maximum budget for conversation": "cost",
}
_STUCK = "AgentStuckInLoopError"
_NO_STEP = {"system", "message", "recall", "change_agent_state", "null"}


def recognises(document: Document) -> bool:
    """Tell whether this is output, verdicts or an event list of OpenHands."""
    head = document.head
    if document.suffix == ".jsonl":
        if not isinstance(head, Mapping):
            return False
        return _is_verdict(head) or ("history" in head and ("instance_id" in head or _issue(head)))
    return _is_events(head)


def _is_verdict(value: Mapping[str, Any]) -> bool:
    report = mapping(mapping(value.get("test_result")).get("report"))
    return "instance_id" in value and "resolved" in report and "history" not in value


def _issue(value: Mapping[str, Any]) -> bool:
    return {"owner", "repo", "number"} <= set(mapping(value.get("issue")))


def _is_events(head: Any) -> bool:
    return (
        isinstance(head, list)
        and bool(head)
        and all("source" in mapping(event) and "id" in mapping(event) for event in head)
        and any("action" in event for event in head)
    )


def read(document: Document) -> Part:
    """Read one file, line by line.

    Raises:
        Unreadable: it is none of OpenHands.
    """
    if not recognises(document):
        raise Unreadable("is no output of OpenHands")
    if document.suffix != ".jsonl":
        agent = document.folder or "openhands"
        row = Row(agent, document.stem, None, _use(document.head, {}), file=document.name)
        return Part(rows=(row,), stated={agent: {}})
    rows, verdicts, remarks = [], [], []
    stated: dict[str, dict[str, str]] = {}
    limits: dict[str, dict[str, Decimal]] = {}
    for number, value in document.lines():
        line = mapping(value)
        if _is_verdict(line):
            verdicts.append(_verdict(line))
            continue
        if "history" not in line:
            raise Unreadable(f"line {number}: is no output of OpenHands")
        row = _row(document, line)
        rows.append(row)
        stated.setdefault(row.agent, _stated(line))
        cap = whole(mapping(line.get("metadata")).get("max_iterations"))
        if cap:
            limits[row.agent] = {"steps": Decimal(cap)}
        if _issue(line):
            remarks.append(Remark("own_judgement", f"{row.task} of {row.agent}"))
    return Part(tuple(rows), (), tuple(verdicts), stated, limits, (), tuple(remarks))


def _verdict(line: Mapping[str, Any]) -> Verdict:
    resolved = line["test_result"]["report"]["resolved"]
    return Verdict(str(line["instance_id"]), resolved if isinstance(resolved, bool) else None)


def _row(document: Document, line: Mapping[str, Any]) -> Row:
    metadata = mapping(line.get("metadata"))
    model = mapping(metadata.get("llm_config")).get("model")
    agent = " ".join(str(part) for part in (metadata.get("agent_class"), model) if part)
    solved: Any = mapping(mapping(line.get("test_result")).get("report")).get("resolved")
    task = str(line.get("instance_id"))
    if _issue(line):
        issue = line["issue"]
        task = f"{issue['owner']}/{issue['repo']}#{issue['number']}"
        solved = line.get("success")
    told = line.get("error")
    ending, ran_out, error = _ending(told if isinstance(told, str) and told else None)
    history = line.get("history")
    return Row(
        agent or document.folder or "openhands",
        task,
        solved if isinstance(solved, bool) else None,
        _use(history if isinstance(history, list) else [], mapping(line.get("metrics"))),
        run=document.name,
        ending=ending,
        ran_out=ran_out,
        error=error,
        file=document.name,
    )


def _ending(told: str | None) -> tuple[str | None, str | None, str | None]:
    """Return (ending, what ran out, what broke) of the text in `error`."""
    if told is None:
        return None, None, None
    for words, axis in _BUDGET.items():
        if words in told:
            return words, axis, None
    if _STUCK in told:
        return _STUCK, None, None
    return " ".join(told.split())[:80], None, "harness_broken"


def _use(history: Sequence[Any], metrics: Mapping[str, Any]) -> Use:
    events = [mapping(event) for event in history]
    if history and all(isinstance(pair, list) and len(pair) == 2 for pair in history):
        events = [mapping(pair[0]) for pair in history]  # old form: [action, observation]
    acts = [event for event in events if event.get("action") and event.get("source") != "user"]
    steps = sum(event["action"] not in _NO_STEP for event in acts) if acts else None
    total = mapping(metrics.get("accumulated_token_usage"))
    sent, received = whole(total.get("prompt_tokens")), whole(total.get("completion_tokens"))
    tokens = added(sent, received) if sent is not None and received is not None else None
    cost = amount(metrics.get("accumulated_cost"))
    calls = max((len(metrics.get(key) or ()) for key in ("token_usages", "costs")), default=0)
    times = [event["timestamp"] for event in events if event.get("timestamp")]
    return Use(
        calls=calls or None,
        steps=steps,
        tokens=tokens,
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=whole(total.get("cache_read_tokens")),
        cost=None if cost == 0 and (tokens or calls) else cost,
        seconds=between(times[0], times[-1]) if len(times) > 1 else None,
    )


def _stated(line: Mapping[str, Any]) -> dict[str, str]:
    metadata = mapping(line.get("metadata"))
    settings = mapping(metadata.get("llm_config"))
    found = {}
    if settings.get("model"):
        found["model name"] = str(settings["model"])
    for key in ("temperature", "seed"):
        if settings.get(key) is not None:
            found[key] = str(settings[key])
    if metadata.get("max_iterations"):
        found["cap on calls or steps"] = str(metadata["max_iterations"])
    if metadata.get("git_commit"):
        found["harness version"] = f"OpenHands {metadata['git_commit']}"
    return found
