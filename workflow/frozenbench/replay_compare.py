"""What a replayed cell says beside the recorded one: its outcome vector, and where its trace parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.canonical import read_json
from frozenbench.plan import PlannedCell

#: What a grade says of a cell; its meters come besides.
VECTOR = (
    "outcome",
    "reason",
    "cap_hit",
    "tests_expected",
    "tests_passed",
    "banned_ever",
    "artifact_sha256",
)
#: Fields of a trace's events that tell when and from where, not what.
_NOT_COMPARED = ("seconds", "recorded")
_SHOWN = 120


@dataclass(frozen=True)
class Difference:
    """A cell that did not replay.

    Attributes:
        cell: its label.
        fields: what differs: name, recorded value, replayed value.
        where: the first event that diverged, or what else is known.
    """

    cell: str
    fields: tuple[tuple[str, Any, Any], ...]
    where: str

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        told = "; ".join(
            f"{n} {_short(was)}, replayed {_short(now)}" for n, was, now in self.fields
        )
        yield f"broken: {self.cell}: {told or 'it could not be replayed'}"
        yield f"  {self.where}"


def vector(grade: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome vector of a grade."""
    meters = {f"meters.{name}": value for name, value in grade["meters"].items()}
    return {name: grade[name] for name in VECTOR} | meters


def compare(cell: PlannedCell, replayed: Path) -> tuple[Difference | None, int]:
    """Return how a cell differs from its replay in the project folder `replayed`, and its drift.

    The drift is the number of requests that were not in the record as they were asked, and were
    served the answer of their place in the conversation.
    """
    leaf = layout.grade(cell.grade_key) / "grade.json"
    was, now = vector(read_json(leaf)), vector(read_json(replayed / leaf))
    folder = layout.run(cell.run_key)
    run = read_json(replayed / folder / "run.json")
    drifted = len(run.get("drift", ()))
    fields = tuple((name, was[name], now.get(name)) for name in was if was[name] != now.get(name))
    if not fields:
        return None, drifted
    where = (
        diverged(folder / "trace.jsonl", replayed / folder / "trace.jsonl")
        or _parted_tree(folder, replayed / folder)
        or "its run is the same, event by event and file by file: the grade differs"
    )
    if run["message"] and run["message"] != read_json(folder / "run.json")["message"]:
        where += f"; the replay says: {run['message'].splitlines()[0][:300]}"
    return Difference(cell.label, fields, where), drifted


def diverged(recorded: Path, replayed: Path) -> str | None:
    """Return the first event of two traces that differs, or None."""
    was, now = _events(recorded), _events(replayed)
    for number in range(max(len(was), len(now))):
        one = was[number] if number < len(was) else None
        two = now[number] if number < len(now) else None
        if one != two:
            return f"first event that differs: {number + 1}: {_parting(one, two)}"
    return None


def _parted_tree(recorded: Path, replayed: Path) -> str | None:
    """Return the first step after which the two work trees differ, or None."""
    steps = [read_json(folder / "run.json")["steps"] for folder in (recorded, replayed)]
    for was, now in zip(*steps, strict=False):
        trees = [
            _changed(folder, step["snapshot"])
            for folder, step in ((recorded, was), (replayed, now))
        ]
        paths = sorted(path for path in {**trees[0], **trees[1]} if _differ(path, *trees))
        if paths:
            return f"first event that differs: step {was['step']} wrote another {paths[0]}"
    return None


def _changed(folder: Path, snapshot: str | None) -> dict[str, Any]:
    """Return what a snapshot adds, changes (its content) and deletes (None)."""
    if snapshot is None:
        return {}
    held = read_json(folder / "snapshots" / snapshot)
    return {**held["changed"], **dict.fromkeys(held["deleted"])}


def _differ(path: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    return (path in one) != (path in two) or one.get(path) != two.get(path)


def _parting(one: Mapping[str, Any] | None, two: Mapping[str, Any] | None) -> str:
    if one is None or two is None:
        there = one if two is None else two
        assert there is not None
        which = "recorded" if two is None else "replayed"
        return f"{there['event']} is in the {which} trace alone"
    if one["event"] != two["event"]:
        return f"recorded {one['event']}, replayed {two['event']}"
    names = [name for name in sorted({*one, *two}) if one.get(name) != two.get(name)]
    told = [f"{n} {_short(one.get(n))}, replayed {_short(two.get(n))}" for n in names[:3]]
    return f"{one['event']}: {'; '.join(told)}"


def _events(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    events = []
    for line in path.read_text("utf-8").splitlines():
        event = json.loads(line)
        events.append({name: it for name, it in event.items() if name not in _NOT_COMPARED})
    return events


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
