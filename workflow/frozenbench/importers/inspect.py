"""Inspect: `.eval` archives, deflated or with Zstandard, and `.json` logs.

What ran out stands in each sample's `limit.type`, while the eval's status stays "success";
`config.limit` is a number of samples and no budget. A sample that an archive does not hold, or
holds damaged, is read from its summary, or is an ERROR: it never leaves the denominator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from frozenbench.importers.archive import Archive, TooLarge
from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.inspect_sample import Log, lost_row, sample_row, thin, turns_of
from frozenbench.importers.model import CAP_CONTROLS, Part, Published, Remark, Row, Unreadable
from frozenbench.importers.uses import Uses, written

#: Limit in the config -> the axes it is a limit on, and its unit in words.
_LIMITS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "token_limit": (("tokens",), ""),
    "time_limit": (("seconds",), ""),
    "working_limit": (("seconds",), ""),
    "cost_limit": (("cost",), ""),
    "turn_limit": (("steps", "calls"), ""),
    "message_limit": ((), " messages"),
}
_WHOLE = re.compile(r"samples/(.+)_epoch_(\d{1,9})\.json", re.DOTALL)
_CHUNKED = re.compile(r"samples/(.+)_epoch_(\d{1,9})/sample\.json", re.DOTALL)
_CHUNK = re.compile(r"(samples/.+_epoch_\d{1,9}/)(events|messages)/(\d{1,12})\.json", re.DOTALL)
#: Most samples that a log may say it should hold.
_MOST_DUE = 1_000_000
#: Sample and epoch: the key of a sample in a log.
_Key = tuple[str, int]


def recognises(document: Document) -> bool:
    """Tell whether this is a log of Inspect."""
    if document.suffix == ".eval":
        return True
    head = document.head
    return isinstance(head, Mapping) and "status" in head and "model" in mapping(head.get("eval"))


def read(document: Document) -> Part:
    """Read one log.

    Raises:
        Unreadable: it is none of Inspect, or its header is broken.
    """
    if not recognises(document):
        raise Unreadable("is no log of Inspect")
    if document.suffix != ".eval":
        log = _log(document, document.head)
        return _part(log, document.head, *_whole(log, document.head.get("samples")))
    with Archive(document.path, document.doubles) as archive:
        name = next((n for n in ("header.json", "_journal/start.json") if n in archive.names), None)
        if name is None:
            raise Unreadable("holds neither header.json nor _journal/start.json")
        head = mapping(archive.json(name))
        log = _log(document, head)
        return _part(log, head, *_samples(archive, log, _due(head)))


def _whole(log: Log, held: Any) -> tuple[list[tuple[Row, list[Remark]]], list[Remark]]:
    """Read every sample of a log in one piece, and name what is none: no row can tell its task."""
    found, remarks = [], []
    if held is not None and not isinstance(held, list):
        told = f"{log.name}: samples: {written(held)} is no list of samples"
        return [], [Remark("broken_file", told)]
    for place, sample in enumerate(held or ()):
        if mapping(sample).get("id") is not None:
            found.append(sample_row(log, sample))
            continue
        why = "holds no id" if isinstance(sample, Mapping) else f"{written(sample)} is no sample"
        told = f"{log.name}: samples[{place}]: {why}: no run, unless the header names its id"
        remarks.append(Remark("broken_file", told))
    return found, remarks


def _log(document: Document, head: Mapping[str, Any]) -> Log:
    evaluated = mapping(head.get("eval"))
    if not evaluated.get("model") or not evaluated.get("task"):
        raise Unreadable("names no model and no task: is no header of a log of Inspect")
    agent, solver = str(evaluated["model"]), evaluated.get("solver")
    if isinstance(solver, str) and solver:
        agent = f"{agent} {solver}"
    key = evaluated.get("task_id") or evaluated.get("run_id") or document.name
    scorer, score = _headline(mapping(head.get("results")), evaluated)
    return Log(document.name, agent, str(evaluated["task"]), str(key), scorer, score)


def _headline(
    results: Mapping[str, Any], evaluated: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Return the scorer and the score that count: the headline, else the first."""
    headline, scores = mapping(results.get("headline")), _listed(results.get("scores"))
    first = next((score for score in scores if score.get("name")), {})
    planned = next(iter(_listed(evaluated.get("scorers"))), {})
    scorer = headline.get("scorer") or first.get("scorer") or planned.get("name")
    score = headline.get("score") or first.get("name")
    return (str(scorer) if scorer else None, str(score) if score else None)


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [mapping(item) for item in value] if isinstance(value, list) else []


def _due(head: Mapping[str, Any]) -> int:
    """Return how many samples the log should hold, 0 where it does not say."""
    evaluated = mapping(head.get("eval"))
    ids = mapping(evaluated.get("dataset")).get("sample_ids")
    return len(ids) * _epochs(head) if isinstance(ids, list) else 0


def _epochs(head: Mapping[str, Any]) -> int:
    """Return how often the log says that each sample was run; 1 where no log could hold that."""
    evaluated = mapping(head.get("eval"))
    epochs = whole(mapping(evaluated.get("config")).get("epochs")) or 1
    ids = mapping(evaluated.get("dataset")).get("sample_ids")
    return epochs if epochs * len(ids if isinstance(ids, list) else ()) <= _MOST_DUE else 1


def _samples(
    archive: Archive, log: Log, due: int
) -> tuple[list[tuple[Row, list[Remark]]], list[Remark]]:
    """Read every sample, whole or in chunks; what cannot be read, from the summaries."""
    found: dict[_Key, tuple[Row, list[Remark]]] = {}
    lost: dict[_Key, Unreadable] = {}
    chunks = _chunks(archive.names)
    for name in archive.names:
        match = _CHUNKED.fullmatch(name) or _WHOLE.fullmatch(name)
        if match is None:
            continue
        key = match[1], int(match[2])
        try:
            sample = mapping(archive.json(name))
            if name.endswith("/sample.json"):
                sample = _joined(archive, name.removesuffix("sample.json"), chunks, sample)
            if sample.get("id") is None:
                raise Unreadable(f"{name}: is no sample")
            found[key] = sample_row(log, sample)
        except Unreadable as error:
            lost[key] = error
    remarks: list[Remark] = []
    if lost or len(found) < due or "header.json" not in archive.names:
        for summary in _summaries(archive, remarks, log):
            key = str(summary["id"]), whole(summary.get("epoch")) or 1
            if key not in found:
                found[key] = sample_row(log, summary)
                told = f"{found[key][0].task} of {log.agent}: read from its summary"
                remarks.append(Remark("use_not_told", f"{told}, which tells no calls"))
    for key, why in lost.items():
        if not isinstance(why, TooLarge) or key not in found:
            remarks.append(Remark("broken_file", f"{log.name}: {why}"))
        found.setdefault(key, (lost_row(log, *key), []))
    return list(found.values()), remarks


def _chunks(names: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    """Return (folder of a sample, sequence) -> the names of its chunks, in their order."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in names:
        match = _CHUNK.fullmatch(name)
        if match is not None:
            found.setdefault((match[1], match[2]), []).append((int(match[3]), name))
    return {place: [name for _, name in sorted(held)] for place, held in found.items()}


def _joined(
    archive: Archive,
    folder: str,
    names: Mapping[tuple[str, str], Sequence[str]],
    shell: Mapping[str, Any],
) -> Mapping[str, Any]:
    """Return a sample in chunks as one: its events, and the turns among its messages."""

    def chunks(sequence: str) -> Iterator[Sequence[Any]]:
        for name in names.get((folder, sequence), ()):
            value = archive.json(name)
            yield value if isinstance(value, list) else ()

    # Of each event what tells use alone: a sample in chunks is too large to be held.
    events = [thin(mapping(event)) for chunk in chunks("events") for event in chunk]
    joined = {**shell, "events": events}
    if shell.get("turn_count") is None and "message_refs" in shell:
        joined["turn_count"] = turns_of(shell["message_refs"], chunks("messages"))
    return joined


def _summaries(archive: Archive, remarks: list[Remark], log: Log) -> Iterable[Mapping[str, Any]]:
    """Return the last summary of each sample; of a log that was not ended, from its journal."""
    names = ["summaries.json"] if "summaries.json" in archive.names else []
    if not names:
        journal = [n for n in archive.names if re.fullmatch(r"_journal/summaries/\d{1,9}\.json", n)]
        names = sorted(journal, key=lambda name: int(name.rpartition("/")[2].removesuffix(".json")))
    found = {}
    for name in names:
        try:
            held = _listed(archive.json(name))
        except Unreadable as error:
            remarks.append(Remark("broken_file", f"{log.name}: {error}"))
            continue
        for summary in held:
            if summary.get("id") is not None:
                found[str(summary["id"]), whole(summary.get("epoch")) or 1] = summary
    return found.values()


def _part(
    log: Log,
    head: Mapping[str, Any],
    read: Sequence[tuple[Row, list[Remark]]],
    remarks: list[Remark],
) -> Part:
    evaluated = mapping(head.get("eval"))
    uses = Uses(log.name)
    limits, caps = _limits(mapping(evaluated.get("config")), uses)
    told = [*uses.remarks, *remarks, *(remark for _, more in read for remark in more)]
    status = head.get("status", "not ended")
    if status != "success":
        count = f", {len(read)} of {_due(head)} samples" if _due(head) > len(read) else ""
        told.append(Remark("unfinished_log", f"{log.name}: status {status}{count}"))
    dataset = mapping(evaluated.get("dataset"))
    ids, there = dataset.get("sample_ids"), len({row.task for row, _ in read})
    due = _selected(whole(dataset.get("samples")), mapping(evaluated.get("config")).get("limit"))
    if not isinstance(ids, list) and due is not None and there < due:
        short = f"{there} of {due} samples; the others have no name, so n is {there}"
        told.append(Remark("unfinished_log", f"{log.name}: holds {short}"))
    partial = any(remark.kind == "partial_grade" for remark in told)
    return Part(
        rows=tuple(row for row, _ in read),
        published=() if partial else tuple(_published(log, mapping(head.get("results")))),
        stated={log.agent: {**_stated(head), **caps}},
        limits={log.agent: limits},
        expected=tuple((log.agent, f"{log.task}/{i}") for i in ids for _ in range(_epochs(head)))
        if isinstance(ids, list)
        else (),
        remarks=tuple(told),
    )


def _selected(samples: int | None, limit: Any) -> int | None:
    """Return how many samples of the data set a run takes; `limit` is their number or a range."""
    if samples is None or limit is None:
        return samples
    if isinstance(limit, list) and len(limit) == 2:
        ends = [whole(end) or 0 for end in limit]
        return max(0, min(samples, ends[1]) - ends[0])
    number = whole(limit)
    return samples if number is None else min(samples, number)


def _limits(config: Mapping[str, Any], uses: Uses) -> tuple[dict[str, Decimal], dict[str, str]]:
    """Return axis -> the log's own limit, and control -> the limits in words."""
    limits: dict[str, Decimal] = {}
    words: dict[str, list[str]] = {}
    for key, (axes, unit) in _LIMITS.items():
        value = uses.amount(key, config.get(key))
        if not value:
            continue
        kind = config.get("token_limit_type") if key == "token_limit" else None
        if kind in (None, "all"):
            for axis in axes:
                limits[axis] = min(value, limits.get(axis, value))
        else:  # a limit on a part of the tokens ends no curve along all of them
            unit = f" ({kind})"
        control = CAP_CONTROLS[axes[0]] if axes else "cap on calls or steps"
        words.setdefault(control, []).append(f"{value}{unit}")
    return limits, {control: ", ".join(told) for control, told in words.items()}


def _stated(head: Mapping[str, Any]) -> dict[str, str]:
    evaluated, plan = mapping(head.get("eval")), mapping(head.get("plan"))
    found = {"model name": str(evaluated.get("model"))}
    packages = mapping(evaluated.get("packages"))
    told = [f"{name} {version}" for name, version in sorted(packages.items())]
    arguments = mapping(evaluated.get("task_args_passed") or evaluated.get("task_args"))
    told += [f"{name}={str(value)[:40]}" for name, value in sorted(arguments.items())]
    if told:
        found["harness version"] = ", ".join(told)[:200]
    for key in ("temperature", "seed"):
        for settings in (plan.get("config"), evaluated.get("model_generate_config")):
            if mapping(settings).get(key) is not None:
                found.setdefault(key, str(mapping(settings)[key]))
    sandbox = evaluated.get("sandbox")
    kind = sandbox[0] if isinstance(sandbox, list) and sandbox else mapping(sandbox).get("type")
    if kind:
        found["isolation"] = str(kind)
    return found


def _published(log: Log, results: Mapping[str, Any]) -> Iterator[Published]:
    """Yield the log's own rate, which leaves out samples without a grade.

    Other reducers of epochs than the mean, and metrics that are no share, are another figure.
    """
    for score in _listed(results.get("scores")):
        if score.get("name") != log.score or score.get("reducer") not in (None, "mean"):
            continue
        value = mapping(mapping(score.get("metrics")).get("accuracy")).get("value")
        if isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 <= value <= 1:
            yield Published(log.agent, log.name, Decimal(value), 4)
        return
