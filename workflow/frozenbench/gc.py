"""gc: list what no experiment refers to, and remove it when asked. Responses are never removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from frozenbench import keys, layout
from frozenbench.controls import is_imported
from frozenbench.frozen import read_controls
from frozenbench.seal import AGAIN, read_sealed


@dataclass(frozen=True)
class Reached:
    """Names of the store's folders that some experiment refers to."""

    runs: frozenset[str]
    grades: frozenset[str]
    tasks: frozenset[str]
    graders: frozenset[str]
    verdicts: frozenset[str]
    packs: frozenset[str]


def reached() -> Reached:
    """Return what the controls of all experiments under results/experiments/ refer to."""
    runs: set[str] = set()
    grades: set[str] = set()
    tasks: set[str] = set()
    graders: set[str] = set()
    packs: set[str] = set()
    for path in sorted(layout.RESULTS.glob("experiments/*/controls.json")):
        controls = read_controls(path)
        if is_imported(controls):  # it refers to nothing of the store
            continue
        packs.add(controls["pack"]["digest"])
        for facts in controls["tasks"].values():
            tasks.add(facts["task_digest"])
            graders.add(facts["grader_digest"])
        for names in keys.expected_cells(controls):
            run_key = keys.run_key(controls, *names)
            runs.add(run_key)
            grades.add(keys.grade_key(controls, names[1], run_key))
    verdicts = {key for grade in grades for key in _verdicts(grade)}
    return Reached(*map(frozenset, (runs, grades, tasks, graders, verdicts, packs)))


def _verdicts(grade_key: str) -> list[str]:
    path = layout.grade(grade_key) / "grade.json"
    return list(read_sealed(path, AGAIN)["verdicts"]) if path.exists() else []


def unreached() -> Iterator[Path]:
    """Yield every folder or file of the store that no experiment refers to."""
    known = reached()
    for pattern, names in (
        ("runs/*", known.runs),
        ("grades/*", known.grades),
        ("frozen/tasks/*", known.tasks),
        ("frozen/graders/*", known.graders),
        ("verdicts/*/*.json", known.verdicts),
        ("pack_checks/*.json", known.packs),
    ):
        for path in sorted(layout.RESULTS.glob(pattern)):
            if path.name.removesuffix(".json") not in names:
                yield path


def size_of(path: Path) -> int:
    """Return the bytes below a path."""
    if path.is_file():
        return path.stat().st_size
    return sum(
        (Path(root) / name).lstat().st_size for root, _, names in os.walk(path) for name in names
    )


def collect_garbage(remove: bool) -> Iterator[str]:
    """Yield a line a path and a closing line; remove the paths if asked."""
    total = count = 0
    for path in list(unreached()):
        size = size_of(path)
        total, count = total + size, count + 1
        yield f"{'removed' if remove else 'unused'} {path} ({size:,} bytes)"
        if remove:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    if not count:
        yield "everything in the store belongs to an experiment"
    else:
        yield f"{count} entries, {total:,} bytes" + ("" if remove else "; next: gc --remove")
