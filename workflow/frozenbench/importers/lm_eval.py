"""lm-evaluation-harness: `samples_<task>_<time>.jsonl`, and `results_<time>.json` beside them.

Samples hold outcomes without any use. A document that several filters grade has several rows: the
first filter is read; of several metrics the first that is a verdict. Both are said. The first
releases wrote one JSON list of samples into a `.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.model import Part, Published, Remark, Row, Unreadable
from frozenbench.importers.uses import written
from frozenbench.source_files import open_file

#: Metrics whose 1 means solved; of a sample's own, the first of these counts.
_METRICS = ("exact_match", "acc", "pass@1", "pass_at_1", "prompt_level_strict_acc")
_NAMED = re.compile(r"samples_(.+?)_(\d{4}-\d\d-\d\dT.*)")
_RESULTS = {"results", "configs", "versions", "n-shot"}
_SAMPLE = {"doc", "filter", "metrics", "resps"}
#: Metrics that are 0 or 1 in every sample, so that their mean is a share.
_SHARES = {"exact_match", "acc", "prompt_level_strict_acc"}


def recognises(document: Document) -> bool:
    """Tell whether this is a file of samples, or a run's results."""
    if document.suffix == ".jsonl":
        head = document.head
        first = head[0] if isinstance(head, list) and head else head
        return isinstance(first, Mapping) and "doc_id" in first and bool(_SAMPLE & set(first))
    return isinstance(document.head, Mapping) and set(document.head) >= _RESULTS


def read(document: Document) -> Part:
    """Read one file, samples line by line.

    Raises:
        Unreadable: it is none of lm-evaluation-harness.
    """
    if not recognises(document):
        raise Unreadable("is no file of samples or results of lm-evaluation-harness")
    if document.suffix != ".jsonl":
        return _results(document, document.head)
    found = _NAMED.fullmatch(document.stem)
    task = found.group(1) if found else document.stem.removeprefix("samples_")
    agent = document.folder or "unnamed"
    rows: dict[Any, Row] = {}
    chosen: Any = None
    remarks = []
    metrics: tuple[str | None, list[str]] | None = None
    for number, line in _samples(document):
        if "doc_id" not in line:
            raise Unreadable(f"line {number}: doc_id is missing")
        name, kept = line.get("filter"), line["doc_id"]
        if not isinstance(kept, int | str):
            raise Unreadable(f"line {number}: doc_id: {written(kept)} is no name of a sample")
        chosen = name if not rows else chosen
        if name != chosen:
            remarks.append(Remark("several_filters", f"{task}/{kept} of {agent}: {name}"))
            continue
        if kept in rows:
            raise Unreadable(f"line {number}: doc_id {kept} stands twice under filter {name}")
        metrics = _metrics(line) if metrics is None else metrics
        solved, partial, unclear = _verdict(line, metrics[0])
        error = "unclear_grade" if unclear else "no_grade"
        if unclear:
            odd = f"{metrics[0]}: {written(line.get(str(metrics[0])))} is neither solved nor not"
            remarks.append(Remark("odd_verdict", f"{task}/{kept} of {agent}: {odd}"))
        rows[kept] = Row(
            agent,
            f"{task}/{kept}",
            solved,
            run=document.name,
            error=error if solved is None else None,
            file=document.name,
        )
        if partial:
            remarks.append(Remark("partial_grade", f"{task}/{kept} of {agent}"))
    if metrics is not None and metrics[1]:
        told = f"{task} of {agent}: {metrics[0]} counts, not {', '.join(metrics[1])}"
        remarks.append(Remark("several_scorers", told))
    beside = document.path.with_name(f"results_{found.group(2)}.json" if found else "results.json")
    stated = {agent: _stated(Document(beside, beside.name))}
    return Part(rows=tuple(rows.values()), stated=stated, remarks=tuple(remarks))


def _samples(document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(document.head, list):
        yield from enumerate(map(mapping, document.head), start=1)
        return
    for number, value in document.lines():
        yield number, mapping(value)


def _metrics(line: Mapping[str, Any]) -> tuple[str | None, list[str]]:
    """Return the metric that counts, and the others that are a verdict too."""
    held = line.get("metrics")
    named = [name for name in held if isinstance(name, str)] if isinstance(held, list) else []
    own = [name for name in named if name in _METRICS] or named
    own = own or [name for name in _METRICS if name in line]
    first = own[0] if own else None
    others = [name for name in named if name != first and isinstance(line.get(name), int | Decimal)]
    return first, others


def _verdict(line: Mapping[str, Any], metric: str | None) -> tuple[bool | None, bool, bool]:
    """Return the verdict, whether it is a partial grade, and whether the grade is none."""
    value = None if metric is None else line.get(metric)
    if isinstance(value, bool):
        return value, False, False
    if isinstance(value, int | Decimal):
        return value == 1, value not in (0, 1), False
    return None, False, value is not None


def _stated(beside: Document) -> dict[str, str]:
    """Return what the results of a run state of all its samples."""
    try:
        head = mapping(beside.json) if beside.path.is_file() else {}
    except Unreadable:
        return {}
    config = mapping(head.get("config"))
    model = head.get("model_name") or config.get("model_args") or config.get("model")
    stated = {"model name": str(model)} if isinstance(model, str) and model else {}
    if head.get("lm_eval_version"):
        stated["harness version"] = f"lm_eval {head['lm_eval_version']}"
    settings = mapping(config.get("gen_kwargs"))
    if settings.get("temperature") is not None:
        stated["temperature"] = str(settings["temperature"])
    if config.get("random_seed") is not None:
        stated["seed"] = str(config["random_seed"])
    return stated


def _results(document: Document, head: Mapping[str, Any]) -> Part:
    """Return the figures of a run, and which of its samples do not lie in the same folder."""
    agent = document.folder or "unnamed"
    stamp = document.stem.removeprefix("results_")
    figures, remarks = [], []
    beside, samples = document.name.rpartition("/"), mapping(head.get("n-samples"))
    for task, held in mapping(head.get("results")).items():
        name = f"samples_{task}_{stamp}.jsonl"
        own = mapping(mapping(head.get("configs")).get(task))
        figures += list(_figure(agent, "".join((*beside[:2], name)), own, held))
        due = whole(mapping(samples.get(task)).get("effective"))
        if not due:  # a group of tasks
            continue
        due *= max(1, len(_list(own, "filter_list")))
        there = _count(Document(document.path.with_name(name), name))
        if there is None:
            remarks.append(Remark("no_rows", f"{task} of {agent}: no {name}"))
        elif there < due:
            remarks.append(Remark("unfinished_log", f"{name}: {there} of {due} rows"))
    return Part(published=tuple(figures), remarks=tuple(remarks))


def _count(document: Document) -> int | None:
    """Return how many lines a file of samples has; None: it is not there."""
    try:
        with open_file(document.path) as stream:
            return sum(1 for line in stream if line.strip())
    except OSError:
        return None


def _list(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    held = value.get(key)
    return [mapping(item) for item in held] if isinstance(held, list) else []


def _figure(agent: str, run: str, config: Mapping[str, Any], held: Any) -> Iterator[Published]:
    """Yield the rate of the filter and the metric that are read of the samples."""
    chosen = next((str(item.get("name")) for item in _list(config, "filter_list")), "none")
    named = [str(item["metric"]) for item in _list(config, "metric_list") if item.get("metric")]
    metric = next((name for name in named if name in _METRICS), None)
    rate = mapping(held).get(f"{metric},{chosen}")
    if not isinstance(rate, int | Decimal) or isinstance(rate, bool):
        return
    if metric in _SHARES and 0 <= rate <= 1:
        yield Published(agent, run, Decimal(rate), 4)
