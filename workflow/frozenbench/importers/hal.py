"""HAL: `*_UPLOAD.json` ({config, results, raw_eval_results, raw_logging_results}).

It holds no ending. Latencies stand in seconds in `results.latencies` and in milliseconds in
`raw_logging_results`; the seconds are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, added, amount, mapping, whole
from frozenbench.importers.model import Part, Published, Remark, Row, Unreadable, Use


def recognises(document: Document) -> bool:
    """Tell whether this is an upload of HAL."""
    head = document.head
    return isinstance(head, Mapping) and {"raw_eval_results", "results"} <= set(head)


def read(document: Document) -> Part:
    """Read one upload.

    Raises:
        Unreadable: it is none of HAL.
    """
    log = document.head
    if not recognises(document):
        raise Unreadable("is no upload of HAL")
    config, metadata = mapping(log.get("config")), mapping(log.get("metadata"))
    agent = str(config.get("agent_name") or metadata.get("run_id") or document.stem)
    run = str(config.get("run_id") or metadata.get("run_id") or "")
    results, raw = mapping(log["results"]), mapping(log["raw_eval_results"])
    lists = {
        str(task): verdict
        for key, verdict in (("successful_tasks", True), ("failed_tasks", False))
        for task in results.get(key) or ()
    }
    usage = _usage(log.get("raw_logging_results") or ())
    rows, remarks = [], []
    for task in dict.fromkeys([*map(str, raw), *lists]):
        solved, partial = _solved(raw.get(task), lists.get(task))
        names = (agent, run, task)
        rows.append(_row(document, names, solved, results, mapping(raw.get(task)), usage))
        if partial:
            remarks.append(Remark("partial_grade", f"{task} of {agent}"))
    stated = {"model name": str(config["model_name"])} if config.get("model_name") else {}
    return Part(
        rows=tuple(rows),
        published=tuple(_published(agent, results)),
        stated={agent: stated},
        remarks=tuple(remarks),
    )


def _row(
    document: Document,
    names: tuple[str, str, str],
    solved: bool | None,
    results: Mapping[str, Any],
    raw: Mapping[str, Any],
    usage: Mapping[str, tuple[int | None, int | None]],
) -> Row:
    agent, run, task = names
    sent, received = usage.get(task, (None, None))
    costs = mapping(results.get("costs"))
    actions = raw.get("taken_actions")
    return Row(
        agent,
        task,
        solved,
        Use(
            steps=len(actions) or None if isinstance(actions, list) else None,
            tokens=added(sent, received) if sent is not None and received is not None else None,
            tokens_input=sent,
            tokens_output=received,
            cost=amount(costs.get(task, raw.get("cost"))),
            seconds=amount(_seconds(mapping(results.get("latencies")).get(task))),
        ),
        run=document.name,
        trial=f"{run} {task}" if run else None,
        error="no_grade" if solved is None else None,
        file=document.name,
    )


def _seconds(value: Any) -> Any:
    return value.get("total_time") if isinstance(value, Mapping) else value


def _solved(raw: Any, listed: bool | None) -> tuple[bool | None, bool]:
    value = raw.get("reward", raw.get("score")) if isinstance(raw, Mapping) else raw
    if isinstance(value, bool):
        return value, False
    if isinstance(value, int | Decimal):
        return value == 1, value not in (0, 1)
    return listed, False


def _usage(entries: Any) -> dict[str, tuple[int | None, int | None]]:
    """Return task -> (input, output) tokens, summed over calls and models."""
    sums: dict[str, tuple[int | None, int | None]] = {}
    for entry in entries if isinstance(entries, list) else ():
        held = mapping(entry)
        task = str(held.get("weave_task_id", mapping(held.get("attributes")).get("weave_task_id")))
        for model in mapping(mapping(held.get("summary")).get("usage")).values():
            usage = mapping(model)
            sent = whole(usage.get("prompt_tokens", usage.get("input_tokens")))
            received = whole(usage.get("completion_tokens", usage.get("output_tokens")))
            before = sums.get(task, (None, None))
            sums[task] = (added(before[0], sent), added(before[1], received))
    return sums


def _published(agent: str, results: Mapping[str, Any]) -> Iterator[Published]:
    rate = results.get("accuracy")
    if isinstance(rate, int | Decimal) and not isinstance(rate, bool):
        yield Published(agent, rate=Decimal(rate), digits=4)
