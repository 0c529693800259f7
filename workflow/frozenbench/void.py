"""Remove what stands on cells that are gone or set aside, so that nothing stale is taken for right.

Rules look at no times (a clone has them in any order), so what has to be made again must not be
there.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from frozenbench import keys, layout
from frozenbench.controls import is_imported
from frozenbench.frozen import read_controls
from frozenbench.plan import Plan

TABLES = ("cells.parquet", "measured.parquet", "refusals.json")


def void_lost(plan: Plan) -> None:
    """Void what stands on cells of `plan` that the store has lost."""
    lost = plan.lost_cells()
    runs = {c.run_key for c in lost if not (layout.run(c.run_key) / "run.json").exists()}
    void(runs, {cell.grade_key for cell in lost})


def void(run_keys: Collection[str], grade_keys: Collection[str] = ()) -> None:
    """Remove all grades of these runs, and every table, view and mark that holds these cells.

    It goes through all experiments of the store, because they share cells. controls.json,
    view.json and the runs stay.
    """
    if not run_keys and not grade_keys:
        return
    grades: set[str] = set()
    for path in sorted(layout.RESULTS.glob("experiments/*/controls.json")):
        controls = read_controls(path)
        if is_imported(controls):  # no cell of it stands on a run
            continue
        held = list(_cells(controls))
        grades |= {grade for run, grade in held if run in run_keys}
        if any(run in run_keys or grade in grade_keys for run, grade in held):
            _void_experiment(path.parent, controls)
    for grade_key in sorted(grades):
        if layout.grade(grade_key).exists():
            shutil.rmtree(layout.grade(grade_key))


def _cells(controls: dict[str, Any]) -> Collection[tuple[str, str]]:
    """Return (run key, grade key) of every cell of an experiment."""
    runs = [(names[1], keys.run_key(controls, *names)) for names in keys.expected_cells(controls)]
    return [(run, keys.grade_key(controls, task, run)) for task, run in runs]


def _void_experiment(folder: Path, controls: dict[str, Any]) -> None:
    """Remove marks first, views next and tables last: each stands on what follows."""
    experiment = controls["experiment"]
    published = layout.published(experiment["name"])
    for mark in ("checked", "published"):
        for path in sorted(published.glob(f".{mark}-{experiment['digest'][:12]}-*")):
            path.unlink()
    for path in sorted(folder.glob("views/*/*")):
        if path.is_dir():
            shutil.rmtree(path)
    for name in TABLES:
        (folder / name).unlink(missing_ok=True)
