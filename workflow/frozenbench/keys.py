"""Run keys and grade keys, from the controls document alone.

The plan and the cells call the same functions, so that a cell can check that it runs what its path
promises.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from frozenbench.canonical import digest
from frozenbench.controls import CAP_FIELDS

Controls = Mapping[str, Any]


def effective_caps(controls: Controls, task: str, budget: str) -> dict[str, float]:
    """Return the caps of a cell by meter; the clock is the smaller of budget's and task's."""
    given = controls["budgets"][budget]
    caps = {meter: given[field] for meter, field in CAP_FIELDS.items() if field in given}
    own = controls["tasks"][task].get("budget_s")
    if own is not None:
        caps["wall_clock"] = min(own, caps["wall_clock"])
    return caps


def agent_sheet(controls: Controls, agent: str, task: str) -> dict[str, Any]:
    """Return the agent's sheet as it enters the run key; the reference's holds the solution."""
    sheet = dict(controls["agents"][agent]["sheet"])
    if sheet["adapter"] == "reference":
        sheet["solution_sha256"] = controls["tasks"][task]["solution_sha256"]
    return sheet


def run_material(
    controls: Controls, agent: str, task: str, budget: str, repeat: int
) -> dict[str, Any]:
    """Return what a run key is made of: nothing of the grader, policy, weight or split."""
    environment = controls["environment"]
    return {
        "task_digest": controls["tasks"][task]["task_digest"],
        "agent_sheet": agent_sheet(controls, agent, task),
        "caps": effective_caps(controls, task, budget),
        "repeat": repeat,
        "budget_disclosed": controls["budget_disclosed"],
        "responses_policy": controls["responses_policy"],
        "isolation": environment["isolation"],
        "python": environment["python"],
        "lock_sha256": environment["lock_sha256"],
        "run_semantics": environment["run_semantics"],
    }


def run_key(controls: Controls, agent: str, task: str, budget: str, repeat: int) -> str:
    """Return the run key of a cell."""
    return digest(run_material(controls, agent, task, budget, repeat))


def grade_material(controls: Controls, task: str, run_key: str) -> dict[str, Any]:
    """Return what a grade key is made of."""
    return {
        "run_key": run_key,
        "grader_digest": controls["tasks"][task]["grader_digest"],
        "grading": controls["grading"],
    }


def grade_key(controls: Controls, task: str, run_key: str) -> str:
    """Return the grade key of a cell."""
    return digest(grade_material(controls, task, run_key))


def expected_cells(controls: Controls) -> Iterator[tuple[str, str, str, int]]:
    """Yield (agent, task, budget, repeat) of every cell that the experiment must have.

    Control agents come first and have repeat 0 alone; a task without a reference solution has no
    reference cell.
    """
    agents = sorted(controls["agents"], key=lambda a: (not controls["agents"][a]["control"], a))
    for agent in agents:
        described = controls["agents"][agent]
        for budget in controls["budgets"]:
            for task, facts in controls["tasks"].items():
                if described["sheet"]["adapter"] == "reference" and not facts["qualified"]:
                    continue
                for repeat in range(1 if described["control"] else controls["repeats"]):
                    yield agent, task, budget, repeat


def environment_id(lock_sha256: str | None) -> str:
    """Return the identity of a built pack environment: lock, Python and platform.

    It is a path and part of verdict keys, never of a run or grade key.
    """
    return digest(
        {
            "lock_sha256": lock_sha256,
            "python": f"cp{sys.version_info.major}{sys.version_info.minor}",
            "platform": f"{sys.platform}-{platform.machine()}",
        }
    )
