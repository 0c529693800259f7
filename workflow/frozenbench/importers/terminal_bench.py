"""terminal-bench 0.x: `results.json` of a run or of a trial, and trials as JSON lines.

A null grade (`test_timeout`, `parse_error`) is a grader that gave no verdict: ERROR here, and the
notices show both ways to count it. Token counts of 0 mean "not reported". Tests run after every
ending but a fault of the harness, so an answer of the model that nobody can read is graded too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.model import Part, Passed, Published, Row, Unreadable, Use
from frozenbench.importers.uses import Uses

_GRADER = {"test_timeout", "parse_error"}
_BROKEN = {"agent_installation_failed", "unknown_agent_error"}
_NORMAL = {"unset", "none", ""}
#: What ran out. A length of output or context that is exceeded is a limit of the model.
_RAN_OUT = {
    "agent_timeout": "seconds",
    "context_length_exceeded": "context",
    "output_length_exceeded": "context",
}
_OWN = {"fatal_llm_parse_error"}
#: How many folders below `results` a trial lies: pack, submission, run, task, trial.
_DEEPEST = 5
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
        uses, agent = Uses(document.name), _submission(document)
        rows = tuple(
            _trial(document, mapping(value), "", agent, uses) for _, value in document.lines()
        )
        stated: dict[str, dict[str, str]] = {row.agent: {} for row in rows}
        return Part(rows=rows, stated=stated, remarks=tuple(uses.remarks))
    return _run(document, head)


def _run(document: Document, log: Mapping[str, Any]) -> Part:
    folder, uses = _folder(document.place), Uses(document.name)
    beside, lock = _beside(folder / "run_metadata.json"), _beside(folder / "tb.lock")
    named = " ".join(str(beside[key]) for key in ("agent_name", "model_name") if beside.get(key))
    agent = named or _submission(document)
    if "results" in log:
        run, trials = str(log.get("id") or document.name), _trials(folder, log)
    else:
        run, trials = str(beside.get("run_id") or ""), [log]
        if folder != document.place.parent and (folder / "results.json").is_file():
            raise Passed("a trial of a run: read with the run's results.json")
    clock = mapping(lock.get("run_config")).get("global_agent_timeout_sec")
    cap = uses.amount("global_agent_timeout_sec", clock)
    due = beside.get("task_ids") if "results" in log else None
    return Part(
        rows=tuple(_trial(document, trial, run, agent, uses) for trial in trials),
        published=tuple(_figure(agent, run, log)) if "results" in log else (),
        stated={agent: _stated(beside, lock, cap)},
        limits={agent: {"seconds": cap} if cap else {}},
        expected=tuple((agent, task) for task in dict.fromkeys(map(str, due)))
        if isinstance(due, list)
        else (),
        remarks=tuple(uses.remarks),
    )


def _folder(path: Path) -> Path:
    """Return the folder of the run: its own, or that above <task>/<trial>/results.json."""
    for folder in path.parents[:3]:
        if (folder / "run_metadata.json").is_file():
            return folder
    above = path.parents[2] if len(path.parents) > 2 else path.parent
    return above if (above / "results.json").is_file() else path.parent


def _trials(folder: Path, log: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the trials of a run, with those that lie below it and are not in its own results.

    A trial's own file is the source, and the run's file is put together from them.
    """
    trials = [mapping(item) for item in log["results"]]
    names = {str(trial.get("trial_name")) for trial in trials}
    for path in sorted(folder.glob("*/*/results.json")):
        if path.parent.name not in names and _is_trial(own := _beside(path)):
            trials.append(own)
    return trials


def _beside(path: Path) -> Mapping[str, Any]:
    """Return what stands beside: a run's settings name the agent, which its results do not."""
    try:
        return mapping(Document(path, path.name).json) if path.is_file() else {}
    except Unreadable:
        return {}


def _stated(
    beside: Mapping[str, Any], lock: Mapping[str, Any], cap: Decimal | None
) -> dict[str, str]:
    found = {"model name": str(beside["model_name"])} if beside.get("model_name") else {}
    if beside.get("dataset_version"):
        found["task pack digest"] = f"{beside.get('dataset_name')} {beside['dataset_version']}"
    version = mapping(lock.get("harness")).get("version") or beside.get("commit_hash")
    if version and version != "unknown":
        found["harness version"] = f"terminal-bench {version}"
    if cap:
        found["cap on seconds"] = str(cap)
    return found


def _submission(document: Document) -> str:
    """Return the folder of the submission: …/results/<pack>/<submission>/[<run>/]results.json."""
    parts = document.place.parent.parts
    for depth in range(2, _DEEPEST + 1):
        if parts[-depth - 1 : -depth] == ("results",):
            return parts[-depth + 1]
    return document.folder


def _figures(head: Mapping[str, Any]) -> Iterator[Published]:
    for run, figures in head.items():
        if not figures.get("duplicate_of"):
            yield from _figure(str(figures["submission"]), run, figures)


def _figure(agent: str, run: str, log: Mapping[str, Any]) -> Iterator[Published]:
    accuracy = log.get("accuracy")
    if isinstance(accuracy, int | Decimal) and not isinstance(accuracy, bool):
        yield Published(agent, run, Decimal(accuracy), 6, whole(log.get("n_resolved")))


def _trial(document: Document, trial: Mapping[str, Any], run: str, agent: str, uses: Uses) -> Row:
    if not _is_trial(trial):
        raise Unreadable("a line is no trial: task_id, is_resolved or failure_mode is missing")
    mode = str(trial["failure_mode"] or "")
    name = str(trial.get("trial_name") or trial.get("id") or "")
    own, resolved = uses.of(name or str(trial["task_id"])), trial["is_resolved"]
    solved = own.verdict("is_resolved", resolved)
    error = None
    if mode in _BROKEN:
        error = mode
    elif solved is None:
        error = "no_grade" if resolved is None else "unclear_grade"
        error = mode if mode in _GRADER else error
    known = {*_RAN_OUT, *_OWN, *_BROKEN, *_GRADER, *_NORMAL}
    return Row(
        agent=str(trial.get("submission") or agent),
        task=str(trial["task_id"]),
        solved=solved,
        use=_use(trial, own),
        run=run or str(trial.get("run") or ""),
        # Runs are copied whole, so a trial is told by its own name, not by its place.
        trial=name,
        ending=None if mode in _NORMAL else mode if mode in known else f"unknown: {mode}",
        ran_out=_RAN_OUT.get(mode),
        error=error,
        file=document.name,
    )


def _use(trial: Mapping[str, Any], uses: Uses) -> Use:
    given = (
        uses.whole(key, trial.get(key)) for key in ("total_input_tokens", "total_output_tokens")
    )
    sent, received = (value or None for value in given)
    start, end = trial.get("agent_started_at"), trial.get("agent_ended_at")
    return Use(
        tokens=uses.sum("tokens", sent, received),
        tokens_input=sent,
        tokens_output=received,
        seconds=uses.between("agent_started_at", start, end),
    )
