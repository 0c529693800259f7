"""Harbor: a trial's `result.json` with its ATIF trajectory, and ATIF trajectories alone.

Whatever else lies in the folder of a trial or a job is part of it: settings, locks, and the
agent's own logs, which would otherwise be read a second time as those of another harness.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

from frozenbench.importers import atif
from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.model import Part, Passed, Remark, Row, Unreadable, Use
from frozenbench.importers.uses import Uses
from frozenbench.source_files import open_file

_TRIAL = {"task_name", "trial_name"}
#: Exceptions after which Harbor grades all the same: what ran out by them.
_RAN_OUT = {
    "AgentTimeoutError": "seconds",
    "ContextWindowExceededError": "context",
    "ContextLengthExceededError": "context",
    "OutputTokenExceededError": "context",
    "OutputLengthExceededError": "context",
}
#: Exceptions that are the agent's own ending: an exit status decides nothing.
_OWN = {"NonZeroAgentExitCodeError", "AgentSafetyRefusalError", "ContentPolicyViolationError"}
_GRADER = {
    "RewardFileNotFoundError",
    "RewardFileEmptyError",
    "VerifierOutputParseError",
    "AddTestsDirError",
    "DownloadVerifierDirError",
}
_INSIDE = {"agent", "user-agent", "verifier", "artifacts", "steps"}
_SETTINGS = {"config.json", "lock.json"}
#: How far the first fields of a result lie from its start, and how deep files lie in a trial.
_START, _DEEP = 4096, 8


def recognises(document: Document) -> bool:
    """Tell whether this is a trial's or a job's result, a trajectory, or part of a trial."""
    if document.suffix not in (".eval", ".csv", ".tsv") and _is_inside(document.place):
        return True
    head = document.head
    if atif.is_trajectory(head):
        return True
    return isinstance(head, Mapping) and (set(head) >= _TRIAL or _is_job(head))


def _is_job(head: Mapping[str, Any]) -> bool:
    return {"stats", "n_total_trials"} <= set(head)


def _is_inside(path: Path) -> bool:
    """Tell whether a file is part of a trial, or the settings of a trial or a job."""
    for folder in path.parents[:_DEEP]:
        below = path.relative_to(folder).parts
        settings = len(below) == 1 and below[0] in _SETTINGS
        if (settings or (len(below) > 1 and below[0] in _INSIDE)) and _holds_result(folder):
            return True
    return False


def _holds_result(folder: Path) -> bool:
    try:
        with open_file(folder / "result.json") as stream:
            start = stream.read(_START)
    except OSError:
        return False
    return b'"trial_name"' in start or b'"n_total_trials"' in start


def read(document: Document) -> Part:
    """Read one file.

    Raises:
        Unreadable: it is none of these.
        Passed: it is read with another file.
    """
    if _is_inside(document.place):
        raise Passed("part of a trial: read with its result.json")
    head = document.head
    if not recognises(document):
        raise Unreadable("is no result.json of a Harbor trial and no ATIF trajectory")
    if atif.is_trajectory(head):
        return _trajectory(document, head)
    if _is_job(head):
        return _job(document, head)
    return _trial(document, head)


def _job(document: Document, head: Mapping[str, Any]) -> Part:
    """Return how many trials of a job have no result: a job that was stopped leaves them out."""
    due = whole(head.get("n_total_trials")) or 0
    there = sum(1 for _ in document.path.parent.glob("*/result.json"))
    told = [
        Remark("passed_over", f"{document.name}: sums of a job: its trials have their own files")
    ]
    if there < due:
        short = f"{there} of {due} trials have a result; the others have no name here"
        told.append(Remark("unfinished_log", f"{document.name}: {short}"))
    return Part(remarks=tuple(told))


def _trajectory(document: Document, log: Mapping[str, Any]) -> Part:
    if atif.is_continuation(log):
        raise Passed("a later part of a trajectory: read with its first part")
    if atif.is_subagent(log):
        raise Passed("the trajectory of a helper: the totals of the whole stand in another file")
    about = mapping(log.get("agent"))
    agent = _named(about.get("name"), about.get("model_name"))
    uses = Uses(document.name)
    use, gone = atif.whole_use(document, log, uses)
    row = Row(agent, document.stem, None, use, run=document.folder, file=document.name)
    stated = _stated(about.get("name"), about.get("version"), about.get("model_name"))
    extra = mapping(about.get("extra"))
    if extra.get("temperature") is not None:
        stated["temperature"] = str(extra["temperature"])
    remarks = (Remark("part_missing", f"{document.name}: {name}") for name in gone)
    return Part(rows=(row,), stated={agent: stated}, remarks=(*remarks, *uses.remarks))


def _trial(document: Document, log: Mapping[str, Any]) -> Part:
    about, settings = (
        mapping(log.get("agent_info")),
        mapping(mapping(log.get("config")).get("agent")),
    )
    model = mapping(about.get("model_info")).get("name")
    agent = _named(about.get("name"), model)
    rewards = mapping(mapping(log.get("verifier_result")).get("rewards"))
    uses = Uses(document.name)
    solved, partial = _solved(rewards, uses)
    kinds = list(_exceptions(log))
    use, gone = _use(document, log, uses)
    row = Row(
        agent,
        str(log["task_name"]),
        solved,
        use,
        run=document.shown(document.place.parent.parent),
        trial=str(log["trial_name"]),
        ending=", ".join(kinds) or None,
        ran_out=next((_RAN_OUT[kind] for kind in kinds if kind in _RAN_OUT), None),
        error=_error(kinds, solved, "unclear_grade" if rewards else "no_grade"),
        file=document.name,
    )
    remarks = [Remark("part_missing", f"{document.name}: {name}") for name in gone]
    if partial:
        remarks.append(Remark("partial_grade", f"{row.task} of {agent}"))
    stated = _stated(about.get("name"), about.get("version"), model)
    stated |= _settings(settings, stated.get("harness version"))
    if log.get("task_checksum"):
        stated["task pack digest"] = "a check sum of each task"
    cap = _cap(mapping(log.get("config")), settings, uses)
    limits: dict[str, Decimal] = {} if cap is None else {"seconds": cap}
    if cap is not None:
        stated["cap on seconds"] = str(cap)
    return Part((row,), (), (), {agent: stated}, {agent: limits}, (), (*remarks, *uses.remarks))


def _exceptions(log: Mapping[str, Any]) -> Iterator[str]:
    """Yield the exceptions of a trial and of its steps, each type once."""
    steps = log.get("step_results")
    held = [log, *(steps if isinstance(steps, list) else ())]
    kinds = [mapping(mapping(part).get("exception_info")).get("exception_type") for part in held]
    yield from dict.fromkeys(str(kind) for kind in kinds if kind)


def _error(kinds: list[str], solved: bool | None, without: str) -> str | None:
    for kind in kinds:
        if kind == "VerifierTimeoutError":
            return "verifier_timeout"
        if kind in _GRADER:
            return "grader_broken"
        if kind not in _RAN_OUT and kind not in _OWN:
            return "harness_broken"
    return without if solved is None else None


def _solved(rewards: Mapping[str, Any], uses: Uses) -> tuple[bool | None, bool]:
    """Return the verdict of `reward`, or of the only one, and whether it is a partial grade."""
    value = rewards.get("reward")
    if value is None and len(rewards) == 1:
        value = next(iter(rewards.values()))
    if value is None and len(rewards) > 1:
        uses.no_verdict("rewards", rewards)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return uses.verdict("reward", value), False
    return value == 1, value not in (0, 1)


def _use(document: Document, log: Mapping[str, Any], uses: Uses) -> tuple[Use, list[str]]:
    """Return what a trial used, and the parts of its trajectory that are gone.

    A trial of several steps tells each of them, and has a trajectory of each.
    """
    steps, folder = log.get("step_results"), document.path.parent
    if not isinstance(steps, list) or not steps:
        return _one(log, folder, uses)
    held, gone = [], []
    for step in map(mapping, steps):
        name = str(step.get("step_name"))
        inside = folder / "steps" / name if PurePosixPath(name).name == name else None
        use, missing = _one(step, inside, uses.of(name))
        held.append(use)
        gone += missing
    return atif.total(held), gone


def _one(part: Mapping[str, Any], folder: Path | None, uses: Uses) -> tuple[Use, list[str]]:
    """Return the use that a result tells, with the calls and steps of its trajectory."""
    result, clock = mapping(part.get("agent_result")), mapping(part.get("agent_execution"))
    keys = ("n_input_tokens", "n_output_tokens", "n_cache_tokens")
    sent, received, cached = (uses.whole(key, result.get(key)) for key in keys)
    episodes = mapping(result.get("metadata")).get("n_episodes")  # Terminus
    own = Use(
        calls=uses.whole("n_episodes", episodes),
        tokens=uses.sum("tokens", sent, received),
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=cached,
        cost=uses.amount("cost_usd", result.get("cost_usd")),
        seconds=uses.between("started_at", clock.get("started_at"), clock.get("finished_at")),
    )
    path = None if folder is None else folder / "agent" / "trajectory.json"
    if path is None or not path.is_file():
        return own, []
    trajectory = Document(path, path.name)
    try:
        value = trajectory.json
    except Unreadable:
        return own, [path.name]
    if not atif.is_trajectory(value):
        return own, []
    use, gone = atif.whole_use(trajectory, value, uses.of(path.name))
    return (own, gone) if gone else (replace(own, calls=use.calls, steps=use.steps), [])


def _named(name: Any, model: Any) -> str:
    return " ".join(str(part) for part in (name, model) if part) or "unnamed"


def _stated(name: Any, version: Any, model: Any) -> dict[str, str]:
    found = {}
    if version:
        found["harness version"] = f"{name} {version}"
    if model:
        found["model name"] = str(model)
    return found


def _settings(settings: Mapping[str, Any], version: str | None) -> dict[str, str]:
    """Return what the arguments of an agent state: two runs of one name can differ in them."""
    arguments = mapping(settings.get("kwargs"))
    found = {
        key: str(arguments[key])
        for key in ("temperature", "seed")
        if arguments.get(key) is not None
    }
    if arguments:
        told = json.dumps(arguments, sort_keys=True, default=str)
        found["harness version"] = f"{version or 'not told'} {told}"[:200]
    return found


def _cap(config: Mapping[str, Any], settings: Mapping[str, Any], uses: Uses) -> Decimal | None:
    """Return the agent's own clock where the job sets it; the task's stands in no result."""
    base, most = (
        uses.amount(key, settings.get(key)) for key in ("override_timeout_sec", "max_timeout_sec")
    )
    keys = ("agent_timeout_multiplier", "timeout_multiplier")
    own, common = (uses.amount(key, config.get(key)) for key in keys)
    times = common if own is None else own
    if not base:
        return None
    return (min(base, most) if most else base) * (Decimal(1) if times is None else times)
