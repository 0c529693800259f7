"""aider: `.aider.results.json` of each exercise, and the published leaderboards (YAML).

An exercise's `tests_outcomes` holds one truth value for each edit round; it is solved where the
last is true. An exercise in which aider itself failed holds an `exception` in its place. The
leaderboards hold counts after one and two rounds, and no row of an exercise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from frozenbench.importers.agents import HARNESS, NAMED
from frozenbench.importers.documents import Document, mapping, whole
from frozenbench.importers.model import Part, Published, Row, Unreadable, Use
from frozenbench.importers.trajectories import settings_of
from frozenbench.importers.uses import Uses

_RESULTS = ".aider.results.json"
#: What an exercise's results say of how it was run.
_SETTINGS = (
    "edit_format",
    "reasoning_effort",
    "thinking_tokens",
    "map_tokens",
    "editor_model",
    "editor_edit_format",
)
#: Folders between a benchmark's folder, its language, and an exercise.
_BETWEEN = ("exercises", "practice")
#: The languages of its exercises: in several of them stands an exercise of the same name.
_LANGUAGES = {"c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "php", "python", "ruby"}
_LANGUAGES |= {"rust", "swift", "typescript"}


def recognises(document: Document) -> bool:
    """Tell whether this is an exercise's results or a leaderboard."""
    if document.suffix in (".yml", ".yaml"):
        return _is_board(document.yaml)
    head = document.head
    return isinstance(head, Mapping) and ("tests_outcomes" in head or _is_crash(document, head))


def _is_crash(document: Document, head: Mapping[str, Any]) -> bool:
    return document.path.name.removesuffix(".gz") == _RESULTS and "exception" in head


def _is_board(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all({"model", "pass_rate_1"} <= set(mapping(entry)) for entry in value)
    )


def read(document: Document) -> Part:
    """Read one file.

    Raises:
        Unreadable: it is none of these.
    """
    if not recognises(document):
        raise Unreadable("is no .aider.results.json and no leaderboard of aider")
    if document.suffix in (".yml", ".yaml"):
        return _board(document.yaml)
    log = document.head
    told = _beside(document) if _is_crash(document, log) else log
    agent = _agent(told) or PurePosixPath(_place(document, log)[0]).name or "unnamed"
    harness = " ".join(str(word) for word in ("aider", told.get("commit_hash")) if word)
    stated = {"model name": str(told["model"])} if told.get("model") else {}
    if told.get("commit_hash"):
        stated["harness version"] = harness
    settings = {key: told[key] for key in _SETTINGS if told.get(key) is not None}
    uses = Uses(document.name)
    return Part(
        rows=(_row(document, log, agent, uses),),
        stated={agent: stated},
        remarks=tuple(uses.remarks),
        facts={agent: {HARNESS: harness, **settings_of(settings, NAMED)}},
    )


def _agent(log: Mapping[str, Any]) -> str:
    return " ".join(str(log[key]) for key in ("model", "edit_format") if log.get(key))


def _beside(document: Document) -> Mapping[str, Any]:
    """Return the results of another exercise of the run: those of a failed one name no agent."""
    for path in sorted(document.place.parent.parent.glob(f"*/{_RESULTS}")):
        try:
            value = mapping(Document(path, path.name).json)
        except Unreadable:
            continue
        if value.get("model"):
            return value
    return {}


def _place(document: Document, log: Mapping[str, Any]) -> tuple[str, str]:
    """Return (the run's folder, the exercise, under its language where the folders tell it)."""
    task = str(log.get("testcase") or document.folder)
    above = document.place.parent.parent
    if (above.parent.name, above.name) == _BETWEEN:
        language, above = above.parent.parent.name, above.parent.parent
        if language in _LANGUAGES:
            return document.shown(above.parent), f"{language}/{task}"
    return document.shown(above), task


def _rounds(outcomes: Any, uses: Uses) -> tuple[list[Any], bool]:
    """Return the outcomes of the rounds, and whether each is a verdict: else none of them counts."""
    if outcomes is not None and not isinstance(outcomes, list):
        uses.no_verdict("tests_outcomes", outcomes)
        return [], False
    rounds = list(outcomes or ())
    odd = [place for place, value in enumerate(rounds) if not isinstance(value, bool)]
    for place in odd:
        uses.no_verdict(f"tests_outcomes[{place}]", rounds[place])
    return rounds, not odd


def _row(document: Document, log: Mapping[str, Any], agent: str, uses: Uses) -> Row:
    outcomes = log.get("tests_outcomes")
    rounds, clear = _rounds(outcomes, uses)
    solved = rounds[-1] if rounds and clear else None
    sent, received = (uses.whole(k, log.get(k)) for k in ("prompt_tokens", "completion_tokens"))
    out = None
    if not solved:
        out = "context" if whole(log.get("num_exhausted_context_windows")) else "edit_rounds"
    run, task = _place(document, log)
    error = None if rounds else "harness_broken" if log.get("exception") else "no_grade"
    error = error if clear else "unclear_grade"
    return Row(
        agent,
        task,
        solved,
        Use(
            edit_rounds=len(rounds) or None,
            tokens=uses.sum("tokens", sent, received),
            tokens_input=sent,
            tokens_output=received,
            cost=uses.amount("cost", log.get("cost")),
            seconds=uses.amount("duration", log.get("duration")),
        ),
        run=run,
        trial=str(log.get("testdir") or "") or None,
        ending=None if solved or not rounds or not clear else "all rounds failed",
        ran_out=out if rounds and clear else None,
        error=error,
        file=document.name,
    )


def _board(entries: list[Mapping[str, Any]]) -> Part:
    names = [_entry(entry) for entry in entries]
    seen: Counter[str] = Counter()
    published: list[Published] = []
    for name, entry in zip(names, entries, strict=True):
        seen[name] += 1
        twice = names.count(name) > 1
        published += _figures(f"{name} (entry {seen[name]})" if twice else name, entry)
    return Part(published=tuple(published))


def _entry(entry: Mapping[str, Any]) -> str:
    """Return the name of an entry: its folder tells one run of a model from another."""
    run = entry.get("dirname")
    return f"{_agent(entry)} ({run})" if run else _agent(entry)


def _figures(agent: str, entry: Mapping[str, Any]) -> Iterator[Published]:
    """Yield the rate after each round, with its count where the board states it."""
    for place in (1, 2):
        rate = entry.get(f"pass_rate_{place}")
        if isinstance(rate, int | Decimal) and not isinstance(rate, bool):
            digits = max(0, -int(Decimal(rate).as_tuple().exponent))
            yield Published(
                agent,
                rate=Decimal(rate) / 100,
                digits=digits + 2,
                solved=whole(entry.get(f"pass_num_{place}")),
                axis="edit_rounds",
                cap=place,
                n=whole(entry.get("test_cases")),
            )
