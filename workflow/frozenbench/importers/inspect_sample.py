"""One sample of an Inspect log: its verdict by the headline score, its use, and how it ended.

Models that grade, inside a span or step of a scorer, are not the agent: their calls, tokens, cost
and time are taken out of what the sample tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import NoNumber, decimal, mapping, whole
from frozenbench.importers.model import Remark, Row, Use
from frozenbench.importers.uses import Uses, written

#: limit.type -> what ran out.
RAN_OUT = {
    "token": "tokens",
    "time": "seconds",
    "working": "seconds",
    "cost": "cost",
    "message": "messages",
    "turn": "steps",
    "context": "context",
}
_LETTERS = {"C": 1, "I": 0, "N": 0}
#: Words that Inspect itself counts as 1 and 0.
_WORDS = {"yes": 1, "true": 1, "no": 0, "false": 0}
_PARTIAL = Decimal("0.5")
_SCORING = {"scorer", "scorers"}
#: What is read of an event, its usage apart.
_TELLING = ("event", "type", "action", "id", "parent_id", "span_id", "timestamp", "working_start")
_CACHED = "input_tokens_cache_read"
_MILLISECOND = Decimal("0.001")


@dataclass(frozen=True)
class Log:
    """What the samples of a log have in common.

    Attributes:
        name: the file, as people see it.
        key: names the log and every retry of it.
        scorer, score: the headline score: a scorer's name, and the key in its dict of values.
    """

    name: str
    agent: str
    task: str
    key: str
    scorer: str | None
    score: str | None


def sample_row(log: Log, sample: Mapping[str, Any]) -> tuple[Row, list[Remark]]:
    """Return the row of a sample, or of its summary, and what a reader must be told of it."""
    limit = sample.get("limit")
    kind = limit.get("type") if isinstance(limit, Mapping) else limit
    kind = kind if kind is None or isinstance(kind, str) else written(kind)
    reason = mapping(limit).get("reason") or sample.get("limit_reason")
    solved, unclear, told = _verdict(log, sample)
    error = _error(sample, kind, solved, unclear)
    ending = None if kind is None else f"limit: {kind}"
    if kind is not None and kind not in RAN_OUT and kind != "operator":
        ending = f"unknown: limit {kind}: {' '.join(str(reason).split())[:80]}"
    epoch = whole(sample.get("epoch")) or 1
    task = f"{log.task}/{sample.get('id')}"
    uses = Uses(f"{log.name}: {task}" + (f", epoch {epoch}" if epoch > 1 else ""))
    row = Row(
        log.agent,
        task,
        solved,
        _use(sample, uses),
        repeat=epoch - 1,
        run=log.name,
        trial=f"{log.key} {sample.get('id')} epoch {epoch}",
        ending=ending,
        ran_out=RAN_OUT.get(str(kind)),
        error=error,
        file=log.name,
    )
    remarks = [Remark(kind, f"{task} of {log.agent}{more}") for kind, more in told]
    return row, [*remarks, *uses.remarks]


def lost_row(log: Log, sample: str, epoch: int) -> Row:
    """Return the ERROR row of a sample whose member cannot be read."""
    return Row(
        log.agent,
        f"{log.task}/{sample}",
        None,
        repeat=epoch - 1,
        run=log.name,
        trial=f"{log.key} {sample} epoch {epoch}",
        error="broken_member",
        file=log.name,
    )


def _error(sample: Mapping[str, Any], kind: Any, solved: bool | None, unclear: bool) -> str | None:
    if kind == "operator":
        return "stopped_by_operator"
    if sample.get("error"):
        return "sample_error"
    if sample.get("invalidation"):
        return "invalidated"
    if sample.get("completed") is False:  # summaries of samples that were still running
        return "unfinished"
    if solved is None:
        return "unclear_grade" if unclear else "no_grade"
    return None


def _verdict(
    log: Log, sample: Mapping[str, Any]
) -> tuple[bool | None, bool, list[tuple[str, str]]]:
    """Return the verdict, whether there is a grade that is none, and what must be told."""
    scores = mapping(sample.get("scores"))
    if not scores and sample.get("score") is not None:  # logs of the first version held one score
        scores = {"score": sample["score"]}
    if not scores:
        return None, False, []
    chosen = _chosen(log, scores)
    if chosen is None:
        return None, False, []
    told = [("several_scorers", f": {chosen} counts")] if len(scores) > 1 else []
    value = mapping(scores[chosen]).get("value")
    if isinstance(value, Mapping):
        if len(value) > 1 and log.score in value:
            told = [("several_scorers", f": {log.score} of {chosen} counts")]
        value = value.get(str(log.score), next(iter(value.values())) if len(value) == 1 else value)
    number = _number(value)
    if number is None:
        # Its own code marks what was not scored by NaN.
        unclear = value is not None and not isinstance(value, NoNumber)
        odd = ("odd_verdict", f": {chosen}: {written(value)} is neither solved nor not")
        return None, unclear, [*told, odd] if unclear else told
    partial = number not in (0, 1)
    return number == 1, False, told + ([("partial_grade", "")] if partial else [])


def _chosen(log: Log, scores: Mapping[str, Any]) -> str | None:
    """Return the score that counts: never another one where the sample lacks it."""
    for name in (log.score, log.scorer):
        if name is not None and name in scores:
            return name
    named = log.scorer is not None or log.score is not None
    return None if named and len(scores) > 1 else next(iter(scores))


def _number(value: Any) -> Decimal | None:
    """Return a grade as Inspect's own metrics count it."""
    if isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if not isinstance(value, str):
        return None
    if value == "P":
        return _PARTIAL
    known = _LETTERS.get(value, _WORDS.get(value.lower()))
    return Decimal(known) if known is not None else decimal(value)


def _use(sample: Mapping[str, Any], uses: Uses) -> Use:
    events = _events(sample)
    own, grading, end = _split(events)
    usages = [mapping(usage) for usage in mapping(sample.get("model_usage")).values()]
    graders = [_usage(event) for event in grading]
    total = _tokens(usages, graders, "total_tokens", uses)
    received = _tokens(usages, graders, "output_tokens", uses)
    # A model whose usage does not tell this read nothing from a cache.
    caching = [usage for usage in usages if usage.get(_CACHED) is not None]
    known = total is not None and received is not None and total >= received
    return Use(
        calls=len(own) if events else None,
        steps=_steps(sample, uses),
        tokens=total,
        # Some endpoints count cached input apart, so the input is what is no output.
        tokens_input=(total or 0) - (received or 0) if known else None,
        tokens_output=received,
        tokens_cached=_tokens(caching, graders, _CACHED, uses),
        cost=_cost(usages, graders, uses),
        seconds=_seconds(sample, events, end, uses),
    )


def _events(sample: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    held = sample.get("events") or mapping(sample.get("transcript")).get("events") or []
    return [mapping(event) for event in held] if isinstance(held, list) else []


def _steps(sample: Mapping[str, Any], uses: Uses) -> int | None:
    turns = uses.whole("turn_count", sample.get("turn_count"))
    messages = sample.get("messages")
    if turns is not None or not isinstance(messages, list):
        return turns
    return len([m for m in messages if mapping(m).get("role") == "assistant"])


def _split(
    events: Iterable[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]], Mapping[str, Any] | None]:
    """Return the agent's model calls, the graders', and the event at which scoring began."""
    own: list[Mapping[str, Any]] = []
    grading: list[Mapping[str, Any]] = []
    spans: set[str] = set()
    depth, end = 0, None
    for event in events:
        kind, scoring = event.get("event"), event.get("type") in _SCORING
        if kind == "span_begin" and (scoring or str(event.get("parent_id")) in spans):
            spans.add(str(event.get("id")))
            end = event if end is None and event.get("type") == "scorers" else end
        elif kind == "step" and scoring:  # logs before spans
            begins = event.get("action") == "begin"
            end = event if begins and end is None else end
            depth = max(0, depth + (1 if begins else -1))
        elif kind == "model":
            (grading if depth or str(event.get("span_id")) in spans else own).append(event)
    return own, grading, end


def thin(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an event tells of use."""
    kept = {key: event[key] for key in _TELLING if key in event}
    return {**kept, "output": {"usage": _usage(event)}}


def _usage(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(event.get("output")).get("usage"))


def _tokens(
    usages: Sequence[Mapping[str, Any]],
    graders: Iterable[Mapping[str, Any]],
    key: str,
    uses: Uses,
) -> int | None:
    """Return the sum over the models less what graders used; None where one does not tell."""
    values = [uses.whole(key, usage.get(key)) for usage in usages]
    known = [value for value in values if value is not None]
    if not values or len(known) < len(values):
        return None
    less = sum(uses.whole(key, usage.get(key)) or 0 for usage in graders)
    return uses.whole(key, max(0, sum(known) - less))


def _cost(
    usages: Sequence[Mapping[str, Any]], graders: Sequence[Mapping[str, Any]], uses: Uses
) -> Decimal | None:
    costs = [uses.amount("total_cost", usage.get("total_cost")) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    if not costs or len(known) != len(costs):
        return None
    less = [uses.amount("total_cost", usage.get("total_cost")) or Decimal(0) for usage in graders]
    return max(Decimal(0), sum(known, Decimal(0)) - sum(less, Decimal(0)))


def _seconds(
    sample: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    end: Mapping[str, Any] | None,
    uses: Uses,
) -> Decimal | None:
    """Return the seconds until scoring began, without waits where the log tells them."""
    working, total = (uses.amount(key, sample.get(key)) for key in ("working_time", "total_time"))
    told = working if working is not None else total
    if told is None:
        times = [stamp for event in events if (stamp := event.get("timestamp"))]
        last = mapping(end).get("timestamp") or (times[-1] if times else None)
        return uses.between("timestamp", times[0], last) if times else None
    begun = uses.amount("working_start", mapping(end).get("working_start"))
    if working is not None and begun is not None and begun <= working:
        return begun.quantize(_MILLISECOND)
    return told


def turns_of(refs: Any, chunks: Iterator[Sequence[Any]]) -> int:
    """Return the assistant's messages among [start, end) ranges into a sequence in chunks."""
    counts = [0]
    for chunk in chunks:
        for message in chunk:
            counts.append(counts[-1] + (mapping(message).get("role") == "assistant"))
    last, found = len(counts) - 1, 0
    for ref in refs if isinstance(refs, list) else ():
        if not isinstance(ref, list) or len(ref) != 2:
            continue
        start, stop = (min(whole(end) or 0, last) for end in (ref[0], ref[1]))
        found += max(0, counts[stop] - counts[start])
    return found
