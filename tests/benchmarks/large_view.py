"""A made-up experiment of 25 agents × 500 tasks × 30 budgets, as its tables lie on disk.

Agents pass more as the cap rises, each at its own pace; of two of them, one leads early and the
other late: a planted flip, which has to come out as confirmed.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "figures")]

AGENTS, TASKS, BUDGETS = 25, 500, 30
EARLY, LATE = "agent-00", "agent-01"
FIGURES = ("budget_curves", "outcomes", "pareto", "task_grid")
Row = dict[str, Any]


def write_view(folder: Path) -> None:
    """Write controls.json, view.json, refusals.json, cells.parquet and measured.parquet."""
    from frozenbench.canonical import digest, write_json
    from frozenbench.table import (
        CELLS,
        CONTROLS_KEY,
        MEASURED,
        RESPONSES_KEY,
        sort_key,
        write_table,
    )
    from synthetic_view import World, controls_of, view_of

    world = World(
        {f"agent-{number:02d}": [0] * BUDGETS for number in range(AGENTS)},
        caps=range(1, BUDGETS + 1),
        n=TASKS,
    )
    controls, view = controls_of(world), view_of(world)
    content = {name: value for name, value in controls.items() if name != "experiment"}
    controls["experiment"]["digest"] = digest(content)
    view["figures"] = list(FIGURES)
    write_json(folder / "controls.json", controls)
    write_json(folder / "view.json", view)
    write_json(folder / "refusals.json", {"refusals": []})
    rows = sorted(_cells(controls), key=sort_key)
    metadata = {CONTROLS_KEY: controls}
    write_table(folder / "cells.parquet", rows, CELLS, metadata)
    measured = [_measured(row) for row in rows]
    metadata[RESPONSES_KEY] = world.responses
    write_table(folder / "measured.parquet", measured, MEASURED, metadata)


def flip_is_confirmed(statistics: Path) -> bool:
    """Tell whether the planted flip came out."""
    import pyarrow.parquet as pq

    planted = {"agent_a": EARLY, "agent_b": LATE, "kind": "confirmed"}
    rows = pq.read_table(statistics / "flips.parquet").to_pylist()
    return any(all(row[key] == value for key, value in planted.items()) for row in rows)


def _chances() -> dict[str, list[float]]:
    """Return the chance of PASS by agent and budget."""
    shares = [np.log(cap) / np.log(BUDGETS) for cap in range(1, BUDGETS + 1)]
    chances = {
        f"agent-{number:02d}": [0.15 + 0.01 * number + (0.1 + 0.012 * number) * x for x in shares]
        for number in range(AGENTS)
    }
    chances[EARLY] = [0.5] * BUDGETS
    chances[LATE] = [0.3 + 0.4 * x for x in shares]
    chances["noop"], chances["reference"] = [0.0] * BUDGETS, [1.0] * BUDGETS
    return chances


def _cells(controls: Row) -> Iterator[Row]:
    """Yield the rows of cells.parquet; a task is as hard for an agent under every budget."""
    draws = np.random.default_rng(20261130)
    for agent, chances in _chances().items():
        hard = draws.random(TASKS)
        for (budget, caps), chance in zip(controls["budgets"].items(), chances, strict=True):
            other = draws.random(TASKS)
            for place, (task, facts) in enumerate(controls["tasks"].items()):
                passed = hard[place] < chance
                stopped = not passed and agent != "noop" and other[place] < 0.4
                cap = None if passed or stopped else "tool_calls"
                outcome = "PASS" if passed else "FAIL_TEST" if stopped else "EXHAUSTED"
                reason = "finished" if passed else "assertion" if stopped else "tool_calls"
                tokens = 900 * caps["max_tool_calls"]
                key = hashlib.sha256(f"{agent} {task} {budget}".encode()).hexdigest()
                yield {
                    **{"agent": agent, "task": task, "budget": budget, "repeat": 0},
                    "control": controls["agents"][agent]["control"],
                    **{"outcome": outcome, "reason": reason, "cap_hit": cap},
                    **{"tool_calls": caps["max_tool_calls"], "edit_rounds": 1, "model_calls": 1},
                    **{"tokens": tokens, "tokens_input": tokens - 300, "tokens_output": 300},
                    **{"tokens_cached": 0, "tokens_undelivered": 0},
                    **{"cap_tool_calls": caps["max_tool_calls"], "cap_tokens": 20000},
                    **{"cap_wall_clock": 300.0, "unmetered": False, "banned_ever": False},
                    **{name: facts[name] for name in ("weight", "split", "network")},
                    **{"tests_expected": 4, "tests_passed": 4 if passed else 1},
                    **{"grader_trust": facts["grader_trust"], "isolation": "userns"},
                    **{"run_key": key, "grade_key": key[::-1], "artifact_sha256": key},
                    **{name: facts[name] for name in ("task_digest", "grader_digest")},
                }


def _measured(cell: Row) -> Row:
    return {
        **{name: cell[name] for name in ("agent", "task", "budget", "repeat")},
        **{"seconds": 0.1 * cell["tokens"] / 900, "model_seconds": 0.0, "startup_seconds": 0.1},
        **{"grade_seconds": 0.4, "infra_retries": 0, "attempts": 1, "responses_recorded": 1},
        **{"responses_live": 0, "machine_class": "x86-64", "isolation_measured": "userns"},
        **{"warm": True},
    }


if __name__ == "__main__":
    write_view(Path(sys.argv[1]))
