"""aider: `.aider.results.json` of each exercise, and the published leaderboards (YAML).

An exercise's `tests_outcomes` holds one truth value for each edit round; it is solved where the
last is true. The leaderboards hold counts after one and two rounds, and no row of an exercise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, added, amount, mapping, whole
from frozenbench.importers.model import Part, Published, Row, Unreadable, Use


def recognises(document: Document) -> bool:
    """Tell whether this is an exercise's results or a leaderboard."""
    if document.suffix in (".yml", ".yaml"):
        return _is_board(document.yaml)
    return isinstance(document.head, Mapping) and "tests_outcomes" in document.head


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
    agent = " ".join(str(log[key]) for key in ("model", "edit_format") if log.get(key))
    agent = agent or document.folder
    stated = {"model name": str(log["model"])} if log.get("model") else {}
    if log.get("commit_hash"):
        stated["harness version"] = f"aider {log['commit_hash']}"
    return Part(rows=(_row(document, log, agent),), stated={agent: stated})


def _row(document: Document, log: Mapping[str, Any], agent: str) -> Row:
    outcomes = log.get("tests_outcomes")
    rounds = [value for value in outcomes or () if isinstance(value, bool)]
    solved = rounds[-1] if rounds else None
    sent, received = whole(log.get("prompt_tokens")), whole(log.get("completion_tokens"))
    out = None
    if not solved:
        out = "context" if whole(log.get("num_exhausted_context_windows")) else "edit_rounds"
    return Row(
        agent,
        str(log.get("testcase") or document.folder),
        solved,
        Use(
            edit_rounds=len(rounds) or None,
            tokens=added(sent, received) if sent is not None and received is not None else None,
            tokens_input=sent,
            tokens_output=received,
            cost=amount(log.get("cost")),
            seconds=amount(log.get("duration")),
        ),
        trial=str(log.get("testdir") or "") or None,
        ending=None if solved or not rounds else "all rounds failed",
        ran_out=out if rounds else None,
        error=None if rounds else "no_grade",
        file=document.name,
    )


def _board(entries: list[Mapping[str, Any]]) -> Part:
    published: list[Published] = []
    for entry in entries:
        published += _figures(entry)
    return Part(published=tuple(published))


def _figures(entry: Mapping[str, Any]) -> Iterator[Published]:
    """Yield the rate after each round, with its count where the board states it."""
    agent = " ".join(str(entry[key]) for key in ("model", "edit_format") if entry.get(key))
    for place in (1, 2):
        rate = entry.get(f"pass_rate_{place}")
        if isinstance(rate, int | Decimal) and not isinstance(rate, bool):
            digits = max(0, -int(Decimal(rate).as_tuple().exponent))
            yield Published(
                f"{agent} ({entry.get('dirname')})",
                rate=Decimal(rate) / 100,
                digits=digits + 2,
                solved=whole(entry.get(f"pass_num_{place}")),
                axis="edit_rounds",
                cap=place,
                n=whole(entry.get("test_cases")),
            )
