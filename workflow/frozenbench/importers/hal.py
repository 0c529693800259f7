"""HAL: `*_UPLOAD.json` ({config, results, raw_eval_results, raw_logging_results}).

It holds no ending. What `raw_eval_results` is differs from benchmark to benchmark: a result of each
task, a SWE-bench report, or the details of a grader, and then the lists of tasks in `results` count.
Latencies stand in seconds in `results.latencies` and in milliseconds in `raw_logging_results`; the
seconds are read. Of calls inside calls the inner ones count: the outer ones repeat their tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, added, amount, mapping, whole
from frozenbench.importers.model import Part, Published, Remark, Row, Unreadable, Use
from frozenbench.importers.swebench import is_report, verdicts_of

_RAW = ("raw_eval_results", "raw_logging_results")
#: Lists of tasks -> their verdict.
_LISTS = (("successful_tasks", True), ("failed_tasks", False))
#: What a result of one task can hold its grade in.
_GRADES = ("reward", "score")
_BY_INPUT = (
    ("prompt_tokens", "completion_tokens", ()),
    ("input_tokens", "output_tokens", ("cache_read_input_tokens", "cache_creation_input_tokens")),
    ("inputTokens", "outputTokens", ("cacheReadInputTokens", "cacheWriteInputTokens")),
)


@dataclass(frozen=True)
class _Grade:
    solved: bool | None
    partial: bool = False
    error: str | None = None


def recognises(document: Document) -> bool:
    """Tell whether this is an upload of HAL."""
    head = document.head
    return (
        isinstance(head, Mapping)
        and isinstance(head.get("results"), Mapping)
        and any(key in head for key in _RAW)
        and ("config" in head or "metadata" in head)
    )


def read(document: Document) -> Part:
    """Read one upload.

    Raises:
        Unreadable: it is none of HAL, or tells no task.
    """
    log = document.head
    if not recognises(document):
        raise Unreadable("is no upload of HAL")
    config, metadata = mapping(log.get("config")), mapping(log.get("metadata"))
    agent = str(config.get("agent_name") or metadata.get("run_id") or document.stem)
    run = str(config.get("run_id") or metadata.get("run_id") or "")
    benchmark = str(config.get("benchmark_name") or "")
    # The grader of the small set reads the whole set, and calls the rest incomplete.
    whole_set = not benchmark.endswith("_mini")
    grades = _grades(mapping(log["results"]), log.get("raw_eval_results"), whole_set)
    if not grades:
        raise Unreadable("tells no task: neither lists of tasks nor a result of each")
    used = _uses(log)
    rows, remarks = [], []
    for task, grade in grades.items():
        # Benchmarks number their tasks from 0: their name tells these apart.
        name = f"{benchmark}/{task}" if benchmark else task
        rows.append(
            Row(
                agent,
                name,
                grade.solved,
                used.get(task, Use()),
                run=document.name,
                trial=f"{run} {name}" if run else None,
                error=grade.error or ("no_grade" if grade.solved is None else None),
                file=document.name,
            )
        )
        if grade.partial:
            remarks.append(Remark("partial_grade", f"{name} of {agent}"))
    return Part(
        rows=tuple(rows),
        published=tuple(_published(agent, document.name, mapping(log["results"]))),
        stated={agent: _stated(config)},
        remarks=tuple(remarks),
    )


def _grades(results: Mapping[str, Any], raw: Any, whole_set: bool) -> dict[str, _Grade]:
    """Return task -> its grade; `whole_set`: a report's tasks are all of the benchmark."""
    if isinstance(raw, Mapping) and is_report(raw):
        return dict(_reported(raw, whole_set))
    listed = {
        str(task): _Grade(verdict)
        for key, verdict in _LISTS
        for task in (results[key] if isinstance(results.get(key), list) else ())
    }
    own = {str(task): value for task, value in mapping(raw).items()}
    plain = not listed and all(isinstance(value, int | Decimal) for value in own.values())
    found = {}
    for task in dict.fromkeys([*own, *listed]):
        grade = _own(own.get(task), task in listed or plain)
        if grade is not None and (grade.solved is not None or grade.error):
            found[task] = grade
        elif task in listed:
            found[task] = listed[task]
        elif grade is not None:
            found[task] = grade
    return found


def _reported(report: Mapping[str, Any], whole_set: bool) -> Iterator[tuple[str, _Grade]]:
    """Yield the grades of a SWE-bench report; it calls incomplete what was not handed in."""
    incomplete = set(map(str, report.get("incomplete_ids") or ()))
    for verdict in verdicts_of(report):
        if verdict.task not in incomplete:
            broken = "grader_broken" if verdict.solved is None else None
            yield verdict.task, _Grade(verdict.solved, error=broken)
        elif whole_set:
            yield verdict.task, _Grade(None, error="missing_row")


def _own(value: Any, listed: bool) -> _Grade | None:
    """Return the grade that a result of a task holds; None: this is no result of a task.

    A text is the error that the agent ended with.
    """
    if isinstance(value, Mapping):
        key = next((key for key in _GRADES if key in value), None)
        if key is None:
            return None
        value = value[key]
    elif isinstance(value, str):
        return _Grade(None, error="harness_broken") if listed else None
    elif not listed:
        return None
    if isinstance(value, bool):
        return _Grade(value)
    if isinstance(value, int | Decimal):
        return _Grade(value == 1, value not in (0, 1))
    return _Grade(None)


def _uses(log: Mapping[str, Any]) -> dict[str, Use]:
    """Return task -> what its run used."""
    results, raw = mapping(log["results"]), mapping(log.get("raw_eval_results"))
    costs, clocks = mapping(results.get("costs")), mapping(results.get("latencies"))
    walls, steps = mapping(log.get("wall_clock_times")), mapping(log.get("task_step_counts"))
    calls = _calls(log.get("raw_logging_results"))
    tasks = dict.fromkeys([*raw, *costs, *clocks, *walls, *steps, *calls])
    found = {}
    for task in map(str, tasks):
        own, (number, sent, received) = mapping(raw.get(task)), calls.get(task, (None, None, None))
        seconds = amount(_seconds(clocks.get(task)))
        found[task] = Use(
            calls=whole(number) or None,
            steps=_steps(steps.get(task), own.get("taken_actions")),
            tokens=whole(_both(sent, received)),
            tokens_input=whole(sent),
            tokens_output=whole(received),
            cost=amount(costs.get(task, own.get("cost"))),
            seconds=amount(walls.get(task)) if seconds is None else seconds,
        )
    return found


def _both(sent: int | None, received: int | None) -> int | None:
    return None if sent is None or received is None else sent + received


def _steps(told: Any, actions: Any) -> int | None:
    steps = whole(told)
    return (len(actions) or None) if steps is None and isinstance(actions, list) else steps


def _seconds(value: Any) -> Any:
    return value.get("total_time") if isinstance(value, Mapping) else value


#: Model calls, tokens in, tokens out.
_Calls = tuple[int | None, int | None, int | None]


def _calls(entries: Any) -> dict[str, _Calls]:
    """Return task -> (model calls, input, output tokens), summed over calls and models."""
    if isinstance(entries, Mapping):  # newer: {task: {call_metadata: [{usage}], call_count}}
        return {str(task): _compact(mapping(held)) for task, held in entries.items()}
    listed = [mapping(entry) for entry in entries] if isinstance(entries, list) else []
    outer = {str(entry.get("parent_id")) for entry in listed if entry.get("parent_id")}
    sums: dict[str, _Calls] = {}
    for entry in listed:
        if str(entry.get("id")) in outer:
            continue
        held = mapping(entry.get("summary")).get("usage")
        models = held if isinstance(held, list) else [held]
        usages = [usage for model in models for usage in mapping(model).values()]
        if not usages:
            continue
        own = entry.get("weave_task_id", mapping(entry.get("attributes")).get("weave_task_id"))
        # One without an id is a sum over calls.
        one = entry.get("id") is not None
        sums[str(own)] = _added(sums.get(str(own), (0, None, None)), int(one), usages)
    return sums


def _compact(held: Mapping[str, Any]) -> _Calls:
    metadata = held.get("call_metadata")
    calls = [mapping(call) for call in metadata] if isinstance(metadata, list) else []
    _, sent, received = _added((0, None, None), 0, [call.get("usage") for call in calls])
    count = whole(held.get("call_count"))
    return (len(calls) or None) if count is None else count, sent, received


def _added(before: _Calls, calls: int, usages: list[Any]) -> _Calls:
    number, sent, received = before
    for usage in map(mapping, usages):
        more = _tokens(usage)
        sent, received = added(sent, more[0]), added(received, more[1])
    return (number or 0) + calls, sent, received


def _tokens(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return (input, output) tokens; some endpoints count cached input apart."""
    for sent, received, apart in _BY_INPUT:
        if sent in usage or received in usage:
            fresh = whole(usage.get(sent))
            cached = [whole(usage.get(key)) for key in apart]
            return None if fresh is None else added(fresh, *cached), whole(usage.get(received))
    return None, None


def _stated(config: Mapping[str, Any]) -> dict[str, str]:
    arguments = mapping(config.get("agent_args"))
    found = {}
    model = config.get("model_name") or arguments.get("model_name")
    if model:
        found["model name"] = str(model)
    for key in ("temperature", "seed"):
        if arguments.get(key) is not None:
            found[key] = str(arguments[key])
    if config.get("agent_version"):
        found["harness version"] = f"agent {config['agent_version']}"
    return found


def _published(agent: str, run: str, results: Mapping[str, Any]) -> Iterator[Published]:
    rate = results.get("accuracy", results.get("overall_accuracy"))
    if isinstance(rate, int | Decimal) and not isinstance(rate, bool):
        yield Published(agent, run, rate=Decimal(rate), digits=4)
