"""retry: set cells that ended in an infrastructure ERROR aside for another attempt; no others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from frozenbench import layout
from frozenbench.canonical import read_json
from frozenbench.outcomes import INFRASTRUCTURE
from frozenbench.plan import Plan, PlannedCell

#: Reasons that concern the grade alone: the run stays.
GRADE_ONLY = ("grader_broken",)


def retry(plan: Plan) -> Iterator[str]:
    """Set the cells aside and yield a line for each; the next run of the workflow does them again.

    The attempt's files stand in runs/<key>/attempts/<n>/; `attempts` counts them.
    """
    count = 0
    for key, cell in plan.grades.items():
        path = layout.grade(key) / "grade.json"
        if not path.exists():
            continue
        grade = read_json(path)
        if grade["outcome"] != "ERROR" or grade["reason"] not in INFRASTRUCTURE:
            continue
        set_aside(cell, grade["reason"])
        count += 1
        yield f"set aside: {cell.label} ({grade['reason']})"
    yield (
        f"{count} cells set aside; next: snakemake --cores 4"
        if count
        else "no cell ended in an infrastructure ERROR; nothing to do"
    )


def set_aside(cell: PlannedCell, reason: str) -> None:
    """Remove a cell's grade; move its run among its attempts unless the grader alone broke."""
    shutil.rmtree(layout.grade(cell.grade_key))
    if reason in GRADE_ONLY:
        return
    folder = layout.run(cell.run_key)
    attempts = folder / "attempts"
    attempts.mkdir(exist_ok=True)
    target = attempts / str(_next(attempts))
    target.mkdir()
    for item in sorted(folder.iterdir()):
        if item != attempts:
            item.rename(target / item.name)


def _next(attempts: Path) -> int:
    return 1 + max((int(item.name) for item in attempts.iterdir()), default=0)
