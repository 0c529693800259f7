"""Read one cell back from the store as a story: prompt, what the agent did step by step, the end.

What differs from run to run of the same thing is left out: seconds, and what a grader printed.
"""

from __future__ import annotations

import base64
import difflib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.canonical import File, read_json
from frozenbench.frozen import read_frozen_task
from frozenbench.pages.blocks import Step, Story

#: What is shown of one cell: steps, characters that were said in one, lines that changed in one.
STEPS, SAID, CHANGED, PROMPT = 24, 4000, 120, 6000

Row = Mapping[str, Any]
_DIGEST = re.compile("[0-9a-f]{64}")


def cell_story(cell: Row) -> Story:
    """Return the story of a row of cells.parquet.

    Of a held-out task digests and the outcome alone, and where the store has not kept the run the
    same. An imported cell has no run of ours.

    Raises:
        BadInput: a frozen task or a snapshot was changed.
    """
    outcome = f"{cell['outcome']} ({cell['reason']})"
    if cell["cap_hit"]:
        outcome += f", cap hit: {cell['cap_hit']}"
    held = cell["split"] == "held_out"
    task = f"task {str(cell['task_digest'])[:12]}" if held else cell["task"]
    title = f"{cell['agent']} · {task} · {cell['budget']}"
    if cell["repeat"]:
        title += f" · repeat {cell['repeat']}"
    if held:
        return _closed(cell, title, outcome, "The task is held out: digests and outcome alone.")
    folder = None if cell["run_key"] is None else layout.run(cell["run_key"])
    task_folder = layout.frozen_task(str(cell["task_digest"]))
    if folder is None or not (folder / "run.json").exists() or not task_folder.is_dir():
        return _closed(cell, title, outcome, "Its run is not in this store.")
    found, fixture = read_frozen_task(task_folder, cell["task_digest"])
    run = read_json(folder / "run.json")
    steps = list(_steps(folder, run, fixture))
    more = len(steps) - STEPS
    words = ["frozenbench", "show", cell["agent"], cell["task"], cell["budget"]]
    if cell["repeat"]:
        words.append(str(cell["repeat"]))
    return Story(
        title,
        outcome,
        (*_facts(cell), ("ending", run["ending"])),
        _cut(found["prompt"], PROMPT),
        tuple(steps[:STEPS]),
        shlex.join(words),
        f"{more} more steps are not shown." if more > 0 else None,
    )


def _closed(cell: Row, title: str, outcome: str, why: str) -> Story:
    return Story(title, outcome, _facts(cell), None, (), None, why)


def _facts(cell: Row) -> tuple[tuple[str, str], ...]:
    names = ("run_key", "grade_key", "task_digest", "grader_digest", "artifact_sha256")
    known = [(name, cell[name]) for name in names if cell[name] is not None]
    tests = cell["tests_passed"], cell["tests_expected"]
    told = [] if None in tests else [("tests", f"{tests[0]} of {tests[1]} passed")]
    used = ", ".join(
        f"{name.replace('_', ' ')} {'null' if cell[name] is None else f'{cell[name]:,}'}"
        for name in ("tool_calls", "edit_rounds", "tokens")
    )
    return (("used", used), *told, *((name, str(value)) for name, value in known))


def _steps(folder: Path, run: Row, fixture: Mapping[str, File]) -> Iterator[Step]:
    """Yield the events of the trace as steps, each with what it changed in the work tree."""
    snapshots = {step["step"]: step["snapshot"] for step in run["steps"]}
    before: dict[str, str] = {path: _text(file.data) for path, file in fixture.items()}
    start = dict(before)
    for event in _events(folder / "trace.jsonl"):
        kind = event.get("event")
        said = event.get("text")
        changed: list[str] = []
        name = snapshots.get(event.get("step")) if kind in ("proposal", "step") else None
        if name is not None:
            after = _tree(start, read_json(folder / "snapshots" / name))
            changed = list(_difference(before, after))
            before = after
        yield Step(
            _title(event),
            None if not said else _cut(str(said), SAID),
            tuple(_cut_lines(changed)),
        )


def _events(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text("utf-8", "replace").splitlines():
            yield json.loads(line)


def _title(event: Mapping[str, Any]) -> str:
    """Return an event in one line: its kind, and all that it tells but its text and its seconds."""
    kind = str(event.get("event", "event")).replace("_", " ")
    parts = [f"{kind} {event['step']}" if "step" in event else kind]
    for name in sorted(event):
        value = event[name]
        if name in ("event", "step", "text", "measured") or "seconds" in name:
            continue
        if value in (None, False, "", [], {}):
            continue
        if name == "use":
            value = {key: count for key, count in sorted(value.items()) if count is not None}
        parts.append(f"{name.replace('_', ' ')} {_short(value)}")
    return " · ".join(parts)


def _short(value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_short(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    text = str(value)
    if _DIGEST.fullmatch(text):
        return text[:12]
    return text if len(text) <= 200 else f"{text[:200]}…"


def _tree(start: Mapping[str, str], snapshot: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a snapshot's files; a snapshot is a difference against the fixture."""
    tree = {path: text for path, text in start.items() if path not in snapshot["deleted"]}
    for path, item in snapshot["changed"].items():
        tree[path] = item["text"] if "text" in item else _binary(base64.b64decode(item["base64"]))
    return tree


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _binary(data)


def _binary(data: bytes) -> str:
    return f"(binary, {len(data)} bytes)"


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old != new:
            yield from difflib.unified_diff(
                [] if old is None else old.splitlines(),
                [] if new is None else new.splitlines(),
                "not there" if old is None else path,
                "not there" if new is None else path,
                lineterm="",
            )


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… {len(text) - most:,} more characters"


def _cut_lines(lines: list[str]) -> list[str]:
    shown = [line if len(line) <= 400 else f"{line[:400]}…" for line in lines[:CHANGED]]
    return shown if len(lines) <= CHANGED else [*shown, f"… {len(lines) - CHANGED} more lines"]
