"""show: the closing lines of an experiment, or everything about one of its cells."""

from __future__ import annotations

import base64
import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.canonical import File, Incomplete, read_json
from frozenbench.plan import Plan, PlannedCell
from frozenbench.seal import AGAIN, read_sealed

MAX_LINES = 400


def show_cell(plan: Plan, cell: PlannedCell) -> Iterator[str]:
    """Yield prompt, difference, trace and grader log of one cell.

    Raises:
        Incomplete: the cell has not run.
    """
    folder = layout.run(cell.run_key)
    if not (folder / "run.json").exists():
        raise Incomplete(f"{cell.label}: has not run; cure: snakemake --cores 4")
    run = read_sealed(folder / "run.json", AGAIN)
    grade_folder = layout.grade(cell.grade_key)
    task = plan.tasks[cell.task]
    yield f"cell {cell.label}"
    if (grade_folder / "grade.json").exists():
        grade = read_sealed(grade_folder / "grade.json", AGAIN)
        cap = f", cap hit: {grade['cap_hit']}" if grade["cap_hit"] else ""
        yield f"outcome {grade['outcome']} ({grade['reason']}){cap}; {grade['note']}".rstrip("; ")
        if grade["finding"]:
            finding = grade["finding"]
            yield f"found {finding['what']} at {finding['path']}:{finding['line']}"
    yield f"ending {run['ending']}; {_meters(run['meters'])}"
    yield from _section("prompt", task.prompt.splitlines())
    yield from _section(
        "difference of the artifact against the fixture", _diff(folder, run, task.fixture)
    )
    yield from _section("trace", _trace(folder / "trace.jsonl"))
    yield from _section("run log", _text(folder / "log"))
    yield from _section("grader log", _text(grade_folder / "log"))


def _meters(meters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {'null' if value is None else value}" for name, value in meters.items()
    )


def _section(title: str, lines: Any) -> Iterator[str]:
    found = list(lines)
    yield ""
    yield f"--- {title}"
    yield from found[:MAX_LINES] if found else ["(empty)"]
    if len(found) > MAX_LINES:
        yield f"… {len(found) - MAX_LINES} more lines"


def _diff(folder: Path, run: Mapping[str, Any], fixture: Mapping[str, File]) -> Iterator[str]:
    names = [step["snapshot"] for step in run["steps"] if step["snapshot"] is not None]
    if not names:
        return
    snapshot = read_json(folder / "snapshots" / names[-1])
    for path, item in snapshot["changed"].items():
        before = fixture[path].data.decode("utf-8", "replace") if path in fixture else ""
        if "text" not in item:
            yield f"{path}: binary, {len(base64.b64decode(item['base64']))} bytes"
            continue
        yield from difflib.unified_diff(
            before.splitlines(), item["text"].splitlines(), f"a/{path}", f"b/{path}", lineterm=""
        )
    for path in snapshot["deleted"]:
        yield f"deleted {path}"


def _trace(path: Path) -> Iterator[str]:
    for line in _text(path):
        event = json.loads(line)
        text = event.pop("text", None)
        yield json.dumps(event, ensure_ascii=False, sort_keys=True)
        for part in (text or "").splitlines():
            yield f"    | {part}"


def _text(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []
