"""OpenHands: `output.jsonl` of its benchmarks and resolver, their verdicts, and event lists.

Verdicts of the benchmarks stand in `*.swebench_eval.jsonl` or in a SWE-bench report; the resolver's
`success` is its own judgement, which the notices say. A cost of 0 beside tokens is an unknown
price. Events have the form of version 0 (`action`) or of version 1 (`kind`). Where the benchmarks
try an instance several times, `output.jsonl` holds the attempt that counts and leaves out those
that ended in an error: they are named and counted as ERROR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.model import Part, Passed, Remark, Row, Unreadable, Use, Verdict
from frozenbench.importers.uses import Uses
from frozenbench.source_files import open_file

#: Words of the controller in `error`, and codes of an event -> what ran out.
_BUDGET = {
    "Agent reached maximum iteration": "steps",
    "Agent reached maximum budget": "cost",
    "MaxIterationsReached": "steps",
    "MaxBudgetReached": "cost",
}
_STUCK = ("AgentStuckInLoopError", "got stuck")
_NO_STEP = {"system", "message", "recall", "change_agent_state", "null"}
_SETTINGS = {"max_iterations", "eval_output_dir", "dataset"}
_SHORT = {"instance_id", "attempt", "max_attempts", "status"}
_ATTEMPT = re.compile(r"output\.critic_attempt_\d+\.jsonl(\.gz)?")
_ID = re.compile(rb'\s*\{\s*"instance_id"\s*:\s*"([^"\\]{1,300})"')


def recognises(document: Document) -> bool:
    """Tell whether this is output, verdicts, an event list or settings of OpenHands."""
    head = document.head
    if document.suffix == ".jsonl":
        return isinstance(head, Mapping) and (_is_output(head) or _is_costs(document))
    return _is_events(head) or (isinstance(head, Mapping) and set(head) >= _SETTINGS)


def _is_output(head: Mapping[str, Any]) -> bool:
    run = "history" in head and ("instance_id" in head or _issue(head))
    return run or _is_verdict(head) or set(head) >= _SHORT


def _is_costs(document: Document) -> bool:
    beside = document.path.with_name("output.jsonl")
    return document.path.name == "cost_report.jsonl" and beside.is_file()


def _is_verdict(value: Mapping[str, Any]) -> bool:
    report = mapping(mapping(value.get("test_result")).get("report"))
    return "instance_id" in value and "resolved" in report and not value.get("history")


def _issue(value: Mapping[str, Any]) -> bool:
    return {"owner", "repo", "number"} <= set(mapping(value.get("issue")))


def _is_events(head: Any) -> bool:
    return (
        isinstance(head, list)
        and bool(head)
        and all("source" in mapping(event) and "id" in mapping(event) for event in head)
        and any("action" in event or event.get("kind") == "ActionEvent" for event in head)
    )


def read(document: Document) -> Part:
    """Read one file, line by line.

    Raises:
        Unreadable: it is none of OpenHands.
        Passed: it holds settings, sums, or attempts of which another file holds those that count.
    """
    if not recognises(document):
        raise Unreadable("is no output of OpenHands")
    if document.suffix != ".jsonl":
        if isinstance(document.head, Mapping):
            raise Passed("the settings of a run: no outcomes")
        agent, uses = document.folder or "openhands", Uses(document.name)
        row = Row(agent, document.stem, None, _use(document.head, {}, uses), file=document.name)
        return Part(rows=(row,), stated={agent: {}}, remarks=tuple(uses.remarks))
    if _is_costs(document):
        raise Passed("sums of a run: no outcomes")
    final = document.path.with_name("output.jsonl")
    if _ATTEMPT.fullmatch(document.path.name) and final.is_file():
        raise Passed("attempts of a run: its output.jsonl holds those that count")
    return _lines(document)


def _lines(document: Document) -> Part:
    rows, verdicts, remarks, uses = [], [], [], Uses(document.name)
    stated: dict[str, dict[str, str]] = {}
    limits: dict[str, dict[str, Decimal]] = {}
    facts: dict[str, dict[str, str]] = {}
    for number, value in document.lines():
        line = mapping(value)
        if _is_verdict(line):
            verdicts.append(_verdict(line, uses))
            continue
        if not _is_output(line):
            raise Unreadable(f"line {number}: is no output of OpenHands")
        of_kind = _short if set(line) >= _SHORT else _row
        row = of_kind(document, line, uses)
        rows.append(row)
        told, caps = _stated(line, uses)
        if told or row.agent not in stated:
            stated[row.agent], limits[row.agent] = {**stated.get(row.agent, {}), **told}, caps
            facts[row.agent] = _facts(line)
        if _issue(line):
            remarks.append(Remark("own_judgement", f"{row.task} of {row.agent}"))
    agents = list(stated)
    expected = (
        [(agents[0], task) for task in dict.fromkeys(_tried(document))] if len(agents) == 1 else []
    )
    return Part(
        rows=tuple(rows),
        verdicts=tuple(verdicts),
        stated=stated,
        limits=limits,
        expected=tuple(expected),
        remarks=(*remarks, *uses.remarks),
        facts={agent: held for agent, held in facts.items() if len(held) > 1},
    )


def _tried(document: Document) -> Iterator[str]:
    """Yield the instances of the attempts beside an output: it leaves out those with an error."""
    if document.path.name != "output.jsonl":
        return
    for path in sorted(document.path.parent.glob("output.critic_attempt_*.jsonl")):
        try:
            with open_file(path) as stream:
                while line := stream.readline(1 << 16):
                    found = _ID.match(line)
                    if found:
                        yield found.group(1).decode("utf-8", "replace")
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(1 << 20)
        except OSError:
            continue


def _verdict(line: Mapping[str, Any], uses: Uses) -> Verdict:
    report, task = line["test_result"]["report"], str(line["instance_id"])
    solved = uses.of(task).verdict("resolved", report["resolved"])
    return Verdict(task, None if report.get("error_eval") else solved)


def _row(document: Document, line: Mapping[str, Any], uses: Uses) -> Row:
    told: Any = mapping(mapping(line.get("test_result")).get("report")).get("resolved")
    task = str(line.get("instance_id"))
    if _issue(line):
        issue = line["issue"]
        task = f"{issue['owner']}/{issue['repo']}#{issue['number']}"
        told = line.get("success")
    own = uses.of(task)
    solved = own.verdict("success" if _issue(line) else "resolved", told)
    held = line.get("history")
    history = held if isinstance(held, list) else []
    ending, ran_out, error = _ending(_error(line), history)
    if error is None and solved is None and told is not None:
        error = "unclear_grade"
    return Row(
        _agent(document, line),
        task,
        solved,
        _use(history, mapping(line.get("metrics")), own),
        run=document.name,
        # A second line on one instance is no repeat: each repeat is a folder of its own.
        trial=document.name,
        ending=ending,
        ran_out=ran_out,
        error=error,
        file=document.name,
    )


def _error(line: Mapping[str, Any]) -> str | None:
    told = line.get("error")
    return told if isinstance(told, str) and told else None


def _short(document: Document, line: Mapping[str, Any], uses: Uses) -> Row:
    """Return the row of a line without history: each instance is one line."""
    cost, status, own = mapping(line.get("cost")), line.get("status"), uses.of(line["instance_id"])
    solved = own.verdict("resolved", line.get("resolved"))
    sent, received = (own.whole(key, cost.get(key)) for key in ("input_tokens", "output_tokens"))
    ending, ran_out, error = _ending(_error(line), ())
    if error is None and ran_out is None and status != "success":
        error = "harness_broken" if status == "error" else "skipped"
    if error is None and solved is None and line.get("resolved") is not None:
        error = "unclear_grade"
    return Row(
        document.folder or "openhands",
        str(line["instance_id"]),
        solved,
        Use(
            tokens=own.sum("tokens", sent, received),
            tokens_input=sent,
            tokens_output=received,
            cost=own.amount("total_cost", cost.get("total_cost")) or None,
        ),
        run=document.name,
        trial=document.name,
        ending=ending,
        ran_out=ran_out,
        error=error,
        file=document.name,
    )


def _settings(line: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the metadata and the model's settings in it, of version 0 or 1."""
    metadata = mapping(line.get("metadata"))
    return metadata, mapping(metadata.get("llm_config") or metadata.get("llm"))


def _agent(document: Document, line: Mapping[str, Any]) -> str:
    metadata, model = _settings(line)
    agent = " ".join(str(p) for p in (metadata.get("agent_class"), model.get("model")) if p)
    return agent or document.folder or "openhands"


def _ending(told: str | None, history: Sequence[Any]) -> tuple[str | None, str | None, str | None]:
    """Return (ending, what ran out, what broke) of the text in `error` and of the last events."""
    code = next(
        (
            str(mapping(event).get("code"))
            for event in reversed(history)
            if mapping(event).get("kind") == "ConversationErrorEvent"
        ),
        None,
    )
    for words, axis in _BUDGET.items():
        if words in (told or "") or words == code:
            return words, axis, None
    if any(words in (told or "") for words in _STUCK):
        return _STUCK[0], None, None
    if told is None and code is None:
        return None, None, None
    return " ".join((told or str(code)).split())[:80], None, "harness_broken"


def _use(history: Sequence[Any], metrics: Mapping[str, Any], uses: Uses) -> Use:
    events = [mapping(event) for event in history]
    if history and all(isinstance(pair, list) and len(pair) == 2 for pair in history):
        events = [mapping(pair[0]) for pair in history]  # old form: [action, observation]
    total = mapping(metrics.get("accumulated_token_usage"))
    keys = ("prompt_tokens", "completion_tokens", "cache_read_tokens")
    sent, received, cached = (uses.whole(key, total.get(key)) for key in keys)
    tokens = uses.sum("tokens", sent, received)
    cost = uses.amount("accumulated_cost", metrics.get("accumulated_cost"))
    lists = [metrics.get(key) for key in ("token_usages", "costs")]
    calls = max((len(held) for held in lists if isinstance(held, list)), default=0)
    turns = _turns(events)
    times = [event["timestamp"] for event in events if event.get("timestamp")]
    return Use(
        calls=calls or turns or None,
        steps=turns or _actions(events),
        tokens=tokens,
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=cached,
        cost=None if cost == 0 and (tokens or calls) else cost,
        seconds=uses.between("timestamp", times[0], times[-1]) if len(times) > 1 else None,
    )


def _turns(events: Sequence[Mapping[str, Any]]) -> int:
    """Return the responses of the model in version 1, each of one or more actions."""
    return len(
        {
            str(event.get("llm_response_id"))
            for event in events
            if event.get("kind") in ("ActionEvent", "MessageEvent") and event.get("llm_response_id")
        }
    )


def _actions(events: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the agent's own actions in version 0."""
    own = [event.get("action") for event in events if event.get("source") != "user"]
    acts = [action for action in own if isinstance(action, str) and action]
    return sum(action not in _NO_STEP for action in acts) if acts else None


def _stated(line: Mapping[str, Any], uses: Uses) -> tuple[dict[str, str], dict[str, Decimal]]:
    metadata, settings = _settings(line)
    found: dict[str, str] = {}
    limits: dict[str, Decimal] = {}
    if settings.get("model"):
        found["model name"] = str(settings["model"])
    for key in ("temperature", "seed"):
        if settings.get(key) is not None:
            found[key] = str(settings[key])
    steps = uses.whole("max_iterations", metadata.get("max_iterations"))
    budget = mapping(line.get("metrics")).get("max_budget_per_task")
    cost = uses.amount("max_budget_per_task", budget)
    if steps:
        found["cap on calls or steps"] = str(steps)
        limits["steps"] = Decimal(steps)
    if cost:
        found["cap on cost"] = str(cost)
        limits["cost"] = cost
    version = [f"OpenHands {metadata['git_commit']}"] if metadata.get("git_commit") else []
    attempts = whole(metadata.get("n_critic_runs") or metadata.get("max_attempts")) or 1
    if attempts > 1:
        version.append(f"the best of up to {attempts} attempts by its own critic")
    if version:
        found["harness version"] = ", ".join(version)
    return found, limits


def _facts(line: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells an agent from others of its name."""
    metadata, settings = _settings(line)
    held = {key: settings.get(key) for key in ("temperature", "seed", "reasoning_effort")}
    held |= {key: metadata.get(key) for key in ("max_iterations", "max_attempts", "n_critic_runs")}
    told = {key: str(value) for key, value in held.items() if value is not None}
    return {"harness": "OpenHands", **told}
