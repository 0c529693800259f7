"""HAL: `*_UPLOAD.json` ({config, results, raw_eval_results, raw_logging_results}).

It holds no ending. What `raw_eval_results` is differs from benchmark to benchmark: a result of each
task, a SWE-bench report, or the details of a grader, and then the lists of tasks in `results` count.
Latencies stand in seconds in `results.latencies` and in milliseconds in `raw_logging_results`; the
seconds are read. Of calls inside calls the inner ones count: the outer ones repeat their tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, mapping
from frozenbench.importers.model import Part, Published, Remark, Row, Unreadable, Use
from frozenbench.importers.swebench import is_report, names_in, verdicts_of
from frozenbench.importers.uses import Uses, written
from frozenbench.importers.verdicts import SOLVED_AND_NOT, contradict

_RAW = ("raw_eval_results", "raw_logging_results")
#: Lists of tasks -> their verdict.
_LISTS = (("successful_tasks", True), ("failed_tasks", False))
#: What two lists say of a task that stands in both.
_BOTH = "in successful_tasks and in failed_tasks"
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
    uses = Uses(document.name)
    grades = _grades(mapping(log["results"]), log.get("raw_eval_results"), whole_set, uses)
    if not grades:
        raise Unreadable("tells no task: neither lists of tasks nor a result of each")
    used = _uses(log, uses)
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
        remarks=(*remarks, *uses.remarks),
    )


def _grades(results: Mapping[str, Any], raw: Any, whole_set: bool, uses: Uses) -> dict[str, _Grade]:
    """Return task -> its grade; `whole_set`: a report's tasks are all of the benchmark."""
    if isinstance(raw, Mapping) and is_report(raw):
        return _reported(raw, whole_set, uses)
    listed: dict[str, _Grade] = {}
    for key, verdict in _LISTS:
        for task in _listed(results, key):
            twice = listed.get(task, _Grade(verdict)).solved is not verdict
            listed[task] = _torn(uses.of(task), _BOTH) if twice else _Grade(verdict)
    own = {str(task): value for task, value in mapping(raw).items()}
    plain = not listed and all(isinstance(value, int | Decimal) for value in own.values())
    found = {}
    for task in dict.fromkeys([*own, *listed]):
        grade = _own(own.get(task), task in listed or plain, uses.of(task))
        if grade is not None and (grade.solved is not None or grade.error):
            found[task] = _agreed(grade, listed.get(task), uses.of(task))
        elif task in listed:
            found[task] = listed[task]
        elif grade is not None:
            found[task] = grade
    return found


def _listed(results: Mapping[str, Any], key: str) -> list[str]:
    """Return the tasks in a list; benchmarks number them, or name them.

    Raises:
        Unreadable: it is no list of tasks.
    """
    held = results.get(key)
    if held is None:
        return []
    if not isinstance(held, list):
        raise Unreadable(f"results.{key}: {written(held)} is no list of tasks")
    for place, task in enumerate(held):
        if isinstance(task, bool) or not isinstance(task, int | str):
            raise Unreadable(f"results.{key}[{place}]: {written(task)} is no task")
    return [str(task) for task in held]


def _torn(uses: Uses, told: str) -> _Grade:
    """Return that of several verdicts on a task none counts, and remember it."""
    uses.disagree(told)
    return _Grade(None, error="verdicts_disagree")


def _agreed(grade: _Grade, listed: _Grade | None, uses: Uses) -> _Grade:
    """Return a task's own grade, or none where the lists say another; a part of a grade says none."""
    if listed is None or grade.partial or None in (grade.solved, listed.solved):
        return listed if listed is not None and listed.error else grade
    if grade.solved == listed.solved:
        return grade
    words = "a grade of 1, and in failed_tasks", "a grade of 0, and in successful_tasks"
    return _torn(uses, words[not grade.solved])


def _reported(report: Mapping[str, Any], whole_set: bool, uses: Uses) -> dict[str, _Grade]:
    """Return the grades of a SWE-bench report; it calls incomplete what was not handed in."""
    incomplete = set(names_in(report, "incomplete_ids"))
    verdicts: dict[str, list[bool | None]] = {}
    for verdict in verdicts_of(report):
        verdicts.setdefault(verdict.task, []).append(verdict.solved)
    found = {}
    for task, told in verdicts.items():
        if contradict(told):
            found[task] = _torn(uses.of(task), SOLVED_AND_NOT)
        elif task not in incomplete:
            broken = "grader_broken" if told[-1] is None else None
            found[task] = _Grade(told[-1], error=broken)
        elif whole_set:
            found[task] = _Grade(None, error="missing_row")
    return found


def _own(value: Any, listed: bool, uses: Uses) -> _Grade | None:
    """Return the grade that a result of a task holds; None: this is no result of a task.

    A text is the error that the agent ended with.
    """
    if isinstance(value, Mapping):
        key = next((key for key in _GRADES if key in value), None)
        if key is None:
            return None
        value = value[key]
        if value is not None and not isinstance(value, int | Decimal):
            uses.no_verdict(key, value)
            return _Grade(None, error="unclear_grade")
    elif isinstance(value, str):
        return _Grade(None, error="harness_broken") if listed else None
    elif not listed:
        return None
    if isinstance(value, bool):
        return _Grade(value)
    if isinstance(value, int | Decimal):
        return _Grade(value == 1, value not in (0, 1))
    return _Grade(None)


def _uses(log: Mapping[str, Any], uses: Uses) -> dict[str, Use]:
    """Return task -> what its run used."""
    results, raw = mapping(log["results"]), mapping(log.get("raw_eval_results"))
    costs, clocks = mapping(results.get("costs")), mapping(results.get("latencies"))
    walls, steps = mapping(log.get("wall_clock_times")), mapping(log.get("task_step_counts"))
    calls = _calls(log.get("raw_logging_results"), uses)
    tasks = dict.fromkeys([*raw, *costs, *clocks, *walls, *steps, *calls])
    found = {}
    for task in map(str, tasks):
        own, (number, sent, received) = mapping(raw.get(task)), calls.get(task, (None, None, None))
        told = uses.of(task)
        seconds = told.amount("latencies", _seconds(clocks.get(task)))
        wall = told.amount("wall_clock_times", walls.get(task))
        found[task] = Use(
            calls=number or None,
            steps=_steps(told.whole("task_step_counts", steps.get(task)), own.get("taken_actions")),
            tokens=told.sum("tokens", sent, received),
            tokens_input=sent,
            tokens_output=received,
            cost=told.amount("cost", costs.get(task, own.get("cost"))),
            seconds=wall if seconds is None else seconds,
        )
    return found


def _steps(steps: int | None, actions: Any) -> int | None:
    return (len(actions) or None) if steps is None and isinstance(actions, list) else steps


def _seconds(value: Any) -> Any:
    return value.get("total_time") if isinstance(value, Mapping) else value


#: Model calls, tokens in, tokens out.
_Calls = tuple[int | None, int | None, int | None]


def _calls(entries: Any, uses: Uses) -> dict[str, _Calls]:
    """Return task -> (model calls, input, output tokens), summed over calls and models."""
    if isinstance(entries, Mapping):  # newer: {task: {call_metadata: [{usage}], call_count}}
        tasks = {str(task): mapping(held) for task, held in entries.items()}
        return {task: _compact(held, uses.of(task)) for task, held in tasks.items()}
    listed = [mapping(entry) for entry in entries] if isinstance(entries, list) else []
    outer = {str(entry.get("parent_id")) for entry in listed if entry.get("parent_id")}
    numbers: Counter[str] = Counter()
    usages: dict[str, list[Any]] = defaultdict(list)
    for entry in listed:
        if str(entry.get("id")) in outer:
            continue
        held = mapping(entry.get("summary")).get("usage")
        models = held if isinstance(held, list) else [held]
        more = [usage for model in models for usage in mapping(model).values()]
        if not more:
            continue
        own = str(entry.get("weave_task_id", mapping(entry.get("attributes")).get("weave_task_id")))
        # One without an id is a sum over calls.
        numbers[own] += entry.get("id") is not None
        usages[own] += more
    return {task: (numbers[task], *_summed(held, uses.of(task))) for task, held in usages.items()}


def _compact(held: Mapping[str, Any], uses: Uses) -> _Calls:
    metadata = held.get("call_metadata")
    calls = [mapping(call) for call in metadata] if isinstance(metadata, list) else []
    told = uses.whole("call_count", held.get("call_count"))
    number = (len(calls) or None) if told is None else told
    return (number, *_summed([call.get("usage") for call in calls], uses))


def _summed(usages: Sequence[Any], uses: Uses) -> tuple[int | None, int | None]:
    """Return (input, output) tokens over all calls; None where any does not tell."""
    if not usages:
        return None, None
    sent, received = zip(*(_tokens(mapping(usage), uses) for usage in usages), strict=True)
    return uses.sum("input tokens", *sent), uses.sum("output tokens", *received)


def _tokens(usage: Mapping[str, Any], uses: Uses) -> tuple[int | None, int | None]:
    """Return (input, output) tokens; some endpoints count cached input apart."""
    for sent, received, apart in _BY_INPUT:
        if sent in usage or received in usage:
            fresh = [sent, *(key for key in apart if usage.get(key) is not None)]
            given = [uses.whole(key, usage.get(key)) for key in fresh]
            return uses.sum("input tokens", *given), uses.whole(received, usage.get(received))
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
