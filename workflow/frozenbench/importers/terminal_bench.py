"""terminal-bench 0.x: `results.json` of a run or of a trial, and trials as JSON lines.

A null grade (`test_timeout`, `parse_error`) is a grader that gave no verdict: ERROR here, and the
notices show both ways to count it. Token counts of 0 mean "not reported".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, between, mapping, parse, whole
from frozenbench.importers.model import Part, Passed, Published, Row, Unreadable, Use

_GRADER = {"test_timeout", "parse_error"}
_BROKEN = {"agent_installation_failed", "unknown_agent_error"}
_NORMAL = {"unset", "none", ""}
#: A run's own settings: their file holds no outcome.
_METADATA = {"run_id", "dataset_name"}


def recognises(document: Document) -> bool:
    """Tell whether this is a run's or a trial's results, or what lies beside them."""
    head = document.head
    if document.path.name == "tb.lock":
        return True
    if not isinstance(head, Mapping):
        return False
    if _is_trial(head) or _is_metadata(head) or _is_figures(head):
        return True
    results = head.get("results")
    return isinstance(results, list) and all(_is_trial(mapping(item)) for item in results)


def _is_trial(value: Mapping[str, Any]) -> bool:
    return {"task_id", "is_resolved", "failure_mode"} <= set(value)


def _is_metadata(value: Mapping[str, Any]) -> bool:
    return set(value) >= _METADATA and "results" not in value


def _is_figures(value: Mapping[str, Any]) -> bool:
    """A map run -> its published figures."""
    return bool(value) and all(
        {"n_resolved", "accuracy", "submission"} <= set(mapping(item)) for item in value.values()
    )


def read(document: Document) -> Part:
    """Read one file.

    Raises:
        Unreadable: it is none of these.
        Passed: it holds settings of a run alone.
    """
    if document.path.name == "tb.lock":
        raise Passed("the settings of a run: no outcomes")
    head = document.head
    if not recognises(document):
        raise Unreadable("is no results.json of terminal-bench")
    if _is_metadata(head):
        raise Passed("the settings of a run: no outcomes")
    if _is_figures(head):
        return Part(published=tuple(_figures(head)))
    if document.suffix == ".jsonl":
        rows = tuple(_trial(document, mapping(value), "", None) for _, value in document.lines())
        return Part(rows=rows, stated={row.agent: {} for row in rows})
    return _run(document, head)


def _run(document: Document, log: Mapping[str, Any]) -> Part:
    beside = _beside(document)
    named = " ".join(str(beside[key]) for key in ("agent_name", "model_name") if beside.get(key))
    agent = named or _submission(document)
    trials = [mapping(item) for item in log.get("results", [log])]
    run = str(log.get("id") or document.name) if "results" in log else ""
    rows = tuple(_trial(document, trial, run, agent) for trial in trials)
    published: tuple[Published, ...] = ()
    if "results" in log:
        published = tuple(_figure(agent, run, log))
    stated = {"model name": str(beside["model_name"])} if beside.get("model_name") else {}
    if beside.get("dataset_version"):
        stated["task pack digest"] = f"{beside.get('dataset_name')} {beside['dataset_version']}"
    return Part(rows=rows, published=published, stated={agent: stated})


def _beside(document: Document) -> Mapping[str, Any]:
    """Return the run's settings: they name the agent, which results do not."""
    path = document.path.parent / "run_metadata.json"
    try:
        return mapping(parse(path.read_text("utf-8"))) if path.is_file() else {}
    except (OSError, UnicodeDecodeError, Unreadable):
        return {}


def _submission(document: Document) -> str:
    """Return the folder of the submission: …/results/<pack>/<submission>/[<run>/]results.json."""
    parts = document.path.parent.parts
    if "results" in parts:
        below = parts[parts.index("results") + 1 :]
        if len(below) > 1:
            return below[1]
    return document.folder


def _figures(head: Mapping[str, Any]) -> Iterator[Published]:
    for run, figures in head.items():
        if not figures.get("duplicate_of"):
            yield from _figure(str(figures["submission"]), run, figures)


def _figure(agent: str, run: str, log: Mapping[str, Any]) -> Iterator[Published]:
    accuracy = log.get("accuracy")
    if isinstance(accuracy, int | Decimal) and not isinstance(accuracy, bool):
        yield Published(agent, run, Decimal(accuracy), 6, whole(log.get("n_resolved")))


def _trial(document: Document, trial: Mapping[str, Any], run: str, agent: str | None) -> Row:
    if not _is_trial(trial):
        raise Unreadable("a line is no trial: task_id, is_resolved or failure_mode is missing")
    mode = str(trial["failure_mode"] or "")
    resolved = trial["is_resolved"]
    solved = resolved if isinstance(resolved, bool) else None
    error = None
    if mode in _BROKEN:
        error = mode
    elif solved is None:
        error = mode if mode in _GRADER else "no_grade"
    known = {"agent_timeout", *_BROKEN, *_GRADER, *_NORMAL}
    return Row(
        agent=str(trial.get("submission") or agent),
        task=str(trial["task_id"]),
        solved=solved,
        use=_use(trial),
        run=run or str(trial.get("run") or ""),
        # Runs are copied whole, so a trial is told by its own name, not by its place.
        trial=str(trial.get("trial_name") or trial.get("id") or ""),
        ending=None if mode in _NORMAL else mode if mode in known else f"unknown: {mode}",
        ran_out="seconds" if mode == "agent_timeout" else None,
        error=error,
        file=document.name,
    )


def _use(trial: Mapping[str, Any]) -> Use:
    given = whole(trial.get("total_input_tokens")), whole(trial.get("total_output_tokens"))
    sent, received = (value or None for value in given)
    told = sent is not None and received is not None
    return Use(
        tokens=(sent or 0) + (received or 0) if told else None,
        tokens_input=sent,
        tokens_output=received,
        seconds=between(trial.get("agent_started_at"), trial.get("agent_ended_at")),
    )
