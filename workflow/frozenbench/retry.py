"""retry: set cells that ended in an infrastructure ERROR aside for another attempt; no others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from frozenbench import layout
from frozenbench.forecast import command_line
from frozenbench.outcomes import INFRASTRUCTURE
from frozenbench.plan import Plan, PlannedCell
from frozenbench.seal import AGAIN, read_sealed
from frozenbench.void import void

#: Reasons that concern the grade alone: the run stays.
GRADE_ONLY = ("grader_broken",)


def retry(plan: Plan) -> Iterator[str]:
    """Set the cells aside and yield a line for each; the next run of the workflow does them again.

    The attempt's files stand in runs/<key>/attempts/<n>/; `attempts` counts them.
    """
    broken = dict(broken_cells(plan))
    # First what stands on them, in every experiment: a retry that is killed leaves nothing stale.
    runs = {plan.grades[key].run_key for key, reason in broken.items() if reason not in GRADE_ONLY}
    void(runs, broken)
    for key, reason in broken.items():
        set_aside(plan.grades[key], reason)
        yield f"set aside: {plan.grades[key].label} ({reason})"
    yield (
        f"{len(broken)} cells set aside; next: {command_line(plan)}"
        if broken
        else "no cell ended in an infrastructure ERROR; nothing to do"
    )


def broken_cells(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (grade key, reason) of every cell that ended in an infrastructure ERROR."""
    for key in plan.grades:
        path = layout.grade(key) / "grade.json"
        if path.exists():
            grade = read_sealed(path, AGAIN)
            if grade["outcome"] == "ERROR" and grade["reason"] in INFRASTRUCTURE:
                yield key, grade["reason"]


def set_aside(cell: PlannedCell, reason: str) -> None:
    """Remove a cell's grade; move its run among its attempts unless the grader alone broke."""
    if layout.grade(cell.grade_key).exists():
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
