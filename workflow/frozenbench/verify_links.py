"""What documents of the store stand on and is gone, and what lies in the store and is none of it.

A file that was lost leaves nothing to be hashed: it is named by what refers to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.canonical import BadInput, read_json, tree_digest
from frozenbench.frozen import read_frozen_task
from frozenbench.gateway.record import clock_path, read_clock
from frozenbench.seal import broken_seal

_HEX = "[0-9a-f]"
_KEY = f"{_HEX}{{64}}"
#: What may lie where, by the path below results/; `*` in a place stands for any name of its line.
_PLACES: Mapping[str, str] = {
    "frozen": "agents|environments|expected|graders|names|records|tasks",
    "frozen/agents": _KEY,
    "frozen/agents/*": r"agent\.json|code",
    "frozen/environments": f"{_HEX}+",
    "frozen/expected": f"{_HEX}{{16}}",
    "frozen/expected/*": rf"{_HEX}{{16}}\.json",
    "frozen/graders": _KEY,
    "frozen/graders/*": r"grader\.json|hidden|solution",
    "frozen/names": rf"{_HEX}+\.json",
    "frozen/records": rf"({_HEX}{{16}}|none)\.json",
    "frozen/tasks": _KEY,
    "frozen/tasks/*": r"task\.json|fixture",
    "grades": _KEY,
    "pack_checks": rf"{_KEY}\.json",
    "responses": f"{_HEX}{{2}}|clocks",
    "responses/*": rf"{_KEY}\.json",
    "runs": _KEY,
    "verdicts": f"{_HEX}{{2}}",
    "verdicts/*": rf"{_KEY}\.json",
    "experiments": rf".+-{_HEX}{{12}}",
    "experiments/*": r"(cells|measured|counts)\.parquet|(controls|refusals)\.json|spend\.jsonl|views",
    "experiments/*/views": f"{_HEX}{{8}}",
}


def aliens() -> Iterator[str]:
    """Yield a line for everything in the store that is no part of it; unfinished files are none."""
    for place, names in _PLACES.items():
        for folder in sorted(layout.RESULTS.glob(place)):
            if not folder.is_dir():
                continue  # an alien of the line above
            for path in sorted(folder.iterdir()):
                known = re.fullmatch(names, path.name) is not None
                if place in ("responses/*", "verdicts/*") and folder.name != "clocks":
                    known = known and path.name.startswith(folder.name)
                if not known and not path.name.startswith("."):
                    yield f"{path}: is no part of the store"


@dataclass(frozen=True)
class Given:
    """What one run says that it was given: the digest of an entry of the record."""

    sha256: str | None
    run_key: str


def answers_given() -> dict[str, Given]:
    """Return record key -> what a run was given under it.

    An entry carries no digest of its answer, and a published record has none to compare: what was
    answered is told by the runs that stand on it, under their seals.
    """
    given: dict[str, Given] = {}
    for path in sorted(layout.RESULTS.glob("runs/*/run.json")):
        with suppress(BadInput, KeyError, TypeError, AttributeError):  # told where runs are checked
            told = read_json(path)["responses"]
            for key, sha256 in zip(told["keys"], told["sha256"], strict=True):
                given[key] = Given(sha256, path.parent.name)
    return given


def lost_responses(given: Mapping[str, Given]) -> Iterator[str]:
    """Yield a line for each response that is gone, though a run or a record stands on it."""
    for key, told in sorted(given.items()):
        path = layout.RESPONSES / key[:2] / f"{key}.json"
        if told.sha256 is not None and not path.is_file():
            yield (
                f"{path}: is gone, and run {told.run_key[:12]} was given it; cure: lay it back from "
                f"a record that holds it, or remove {layout.run(told.run_key)}, which asks again"
            )


def frozen_record(path: Path) -> str | None:
    """Return what is wrong with the summary of an unpacked record, or None."""
    told = read_json(path)
    sha256, keys = told["sha256"], told["keys"]
    if path.stem != ("none" if sha256 is None else sha256[:16]):
        return "is the summary of another record"
    if (problem := broken_seal(told)) is not None:
        return problem
    lost = [key for key in keys if not (layout.RESPONSES / key[:2] / f"{key}.json").is_file()]
    return f"{len(lost)} of its responses are gone, the first {lost[0]}" if lost else None


def run_stands(run: Mapping[str, Any]) -> str | None:
    """Return what is gone of that which a run stands on, or None."""
    task = layout.frozen_task(run["material"]["task_digest"])
    if not (task / "task.json").is_file():
        return f"its frozen task is gone: {task}"
    key, event = run["run_key"], run.get("clock_event")
    path = clock_path(layout.RESPONSES, key)
    if event is not None and read_clock(layout.RESPONSES, key) != event:
        return f"its clock fell at event {event}, and {path} does not say so"
    if "clock_event" in run and event is None and path.exists():
        return f"its clock did not fall, and {path} says so"
    return None


def grade_stands(grade: Mapping[str, Any]) -> str | None:
    """Return what is gone or broken of that which a grade stands on, or None."""
    run = layout.run(grade["run_key"]) / "run.json"
    if not run.is_file():
        return f"its run is gone: {run}"
    digest_ = grade["material"]["grader_digest"]
    grader = layout.frozen_grader(digest_) / "grader.json"
    if not grader.is_file():
        return f"its frozen grader is gone: {grader.parent}"
    expected = _expected_places(read_json(run)["material"]["task_digest"], digest_)
    if expected and not any(path.is_file() for path in expected):
        return f"its expected tests are gone: {expected[0]}"
    verdicts = list(grade["verdicts"])
    if grade["reason"] == "grader_broken":
        verdicts = verdicts[:-1]  # what a broken grader said is not kept
    for key in verdicts:
        path = layout.verdict(key)
        if (problem := _verdict(path)) is not None:
            return f"its verdict {path} {problem}"
    return None


def _expected_places(task_digest: str, grader_digest: str) -> list[Path]:
    """Return where the expected ids of a grade may stand: no grade tells its environment's name.

    Nothing where its frozen task is not as it was, which is told by itself.
    """
    try:
        _, fixture = read_frozen_task(layout.frozen_task(task_digest), task_digest)
    except (BadInput, KeyError, TypeError):
        return []
    places = [*layout.RESULTS.glob("frozen/environments/*"), *layout.RESULTS.glob("frozen/names/*")]
    names = sorted({path.name.removesuffix(".json") for path in places})
    return [layout.expected(grader_digest, tree_digest(fixture), name) for name in names or [""]]


def _verdict(path: Path) -> str | None:
    if not path.is_file():
        return "is gone"
    try:
        document = read_json(path)
    except BadInput:
        return "cannot be read"
    if not isinstance(document, dict) or document.get("key") != path.stem:
        return "is another's"
    return broken_seal(document)


def expected_stands(path: Path) -> str | None:
    """Return why expected ids are not those of their place, or None."""
    place = read_json(path).get("place")
    if place is not None and layout.expected(*place) != path:
        return "holds what is expected of another grader, fixture or environment"
    return None


def unmarked() -> Iterator[str]:
    """Yield a line for each published folder that no longer says what it shows."""
    for marker in sorted(layout.RESULTS.glob("*/.published-*")):
        if not (marker.parent / "view.json").is_file():
            yield f"{marker.parent}: holds no view.json; cure: remove it, it is published again"
