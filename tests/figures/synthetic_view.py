"""Synthetic tables of one view: made-up agents and counts, in the form that figures read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from frozenbench.canonical import canonical_json, write_json
from frozenbench.draw_figure import build, draw_figure
from frozenbench.figures.inputs import Inputs, read_inputs
from frozenbench.stats import tables
from frozenbench.stats.flips import Ladder, ladders

DIGEST = hashlib.sha256(b"synthetic").hexdigest()
Json = dict[str, Any]
OUTCOME_COLUMNS = (
    ("PASS", "pass_rate"),
    ("FAIL_TEST", "fail_test_rate"),
    ("FAIL_ASSUME", "assume_rate"),
    ("EXHAUSTED", "exhaust_rate"),
    ("ERROR", "error_rate"),
)


def hex64(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class World:
    """Counts of PASS by agent and budget out of `n` tasks of weight 1, one repeat each.

    `caps` are the caps on the axis, None for no cap. What is not PASS is split into the other four
    outcomes by `other` (FAIL_TEST, FAIL_ASSUME, ERROR shares; the rest is EXHAUSTED). A crossing is
    of the kind that `kind` says of it: (agent_a, agent_b, how many came before) -> kind.
    """

    counts: Mapping[str, Sequence[int]]
    caps: Sequence[int | None] = (1, 2, 4, 8)
    n: int = 48
    axis: str = "max_tool_calls"
    other: tuple[float, float, float] = (0.3, 0.1, 0.02)
    kind: Callable[[str, str, int], str] = lambda a, b, before: "unresolved"
    tokens: Callable[[str, int], float | None] = lambda agent, cap: 900.0 * (cap + 1)
    slices: Sequence[str] = ("public",)
    other_caps: Json = field(default_factory=lambda: {"max_tokens": 20000, "max_seconds": 300})
    budgets: dict[str, Json] | None = None
    edit_controls: Callable[[Json], None] = lambda controls: None
    edit_view: Callable[[Json], None] = lambda view: None
    responses: Json = field(
        default_factory=lambda: {
            "distinct": 384,
            "recorded": True,
            "first_date": "2026-11-30",
            "last_date": "2026-11-30",
        }
    )

    def all_budgets(self) -> dict[str, Json]:
        if self.budgets is not None:
            return self.budgets
        found = {}
        for cap in self.caps:
            axis = {} if cap is None else {self.axis: cap}
            shared = {key: value for key, value in self.other_caps.items() if key != self.axis}
            found[f"b-{cap}"] = {**axis, **shared}
        return found


def controls_of(world: World) -> Json:
    sheet = {
        "adapter": "chat",
        "endpoint": {
            "id": "local",
            "wire": "openai-chat",
            "model": "Synthetic-135M-Instruct",
            "weights_sha256": hex64("weights"),
        },
        "temperature": 0.8,
        "seed": 17,
    }
    agents: Json = {
        name: {
            "sheet": {**sheet, "policy": "repair"},
            "sheet_digest": hex64(name),
            "control": False,
            "unpinned": [],
        }
        for name in world.counts
    }
    for name in ("noop", "reference"):
        own = {"adapter": name}
        agents[name] = {"sheet": own, "sheet_digest": hex64(name), "control": True, "unpinned": []}
    task = {
        "task_digest": hex64("task"),
        "grader_digest": hex64("grader"),
        "weight": 1,
        "network": "blocked",
        "grader_trust": "in-process",
        "qualified": True,
    }
    controls = {
        "experiment": {"name": "synthetic", "digest": DIGEST},
        "pack": {"digest": hex64("pack"), "lock_sha256": hex64("lock"), "python": ">=3.11"},
        "tasks": {
            f"{name}-{i:03d}": {**task, "split": name}
            for name in world.slices
            for i in range(world.n)
        },
        "agents": agents,
        "budgets": world.all_budgets(),
        "repeats": 1,
        "grading": "every_step",
        "metric": "weighted_pass_under_budget@1",
        "budget_disclosed": False,
        "clock": "guard",
        "responses_policy": "shared",
        "task_subset": None,
        "accepted": {},
        "environment": {
            "python": ">=3.11",
            "lock_sha256": hex64("lock"),
            "isolation": "userns",
            "network": "blocked",
            "run_semantics": 1,
            "grade_semantics": 1,
        },
    }
    world.edit_controls(controls)
    return controls


def view_of(world: World) -> Json:
    view = {
        "digest": hex64("view"),
        "title": None,
        "question": None,
        "budget_axis": world.axis,
        "figures": ["budget_curves"],
        "focus": None,
        "statistics": {"resamples": 10000, "alpha": 0.05},
        "agents": list(world.counts),
        "budgets": list(world.all_budgets()),
        "pack": {
            "name": "synthetic",
            "status": "proposal",
            "licence": "MIT",
            "source": "made up",
            "file_sha256": hex64("file"),
        },
    }
    world.edit_view(view)
    return view


def wilson(count: int, n: int) -> tuple[float, float]:
    z, rate = 1.959964, count / n
    middle, scale = rate + z * z / (2 * n), 1 + z * z / n
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def _summary(world: World, drawn: str) -> list[Json]:
    rows = []
    names = list(world.all_budgets())
    for agent, counts in world.counts.items():
        for place, name in enumerate(names):
            column = [held[place] for held in world.counts.values()]
            count = counts[place]
            rank = 1 + sum(other > count for other in column)
            low, high = wilson(count, world.n)
            left = world.n - count
            fail, assume, error = (math.floor(share * left) for share in world.other)
            exhausted = left - fail - assume - error
            cap = world.all_budgets()[name].get(world.axis)
            tokens = world.tokens(agent, 64 if cap is None else cap)
            known = {key: None for key, _ in tables.SUMMARY}
            rows.append(
                known
                | {
                    "slice": drawn,
                    "agent": agent,
                    "budget": name,
                    "axis_value": None if cap is None else float(cap),
                    "n": world.n,
                    "pass_rate": count / world.n,
                    "weighted_pass_rate": count / world.n,
                    "weighted_low": low,
                    "weighted_high": high,
                    "fail_test_rate": fail / world.n,
                    "assume_rate": assume / world.n,
                    "error_rate": error / world.n,
                    "exhaust_rate": exhausted / world.n,
                    "exhaust_low": wilson(exhausted, world.n)[0],
                    "exhaust_high": wilson(exhausted, world.n)[1],
                    "total_tokens": None if tokens is None else int(tokens * world.n),
                    "tokens_n": 0 if tokens is None else world.n,
                    "tokens_missing": world.n if tokens is None else 0,
                    "rank": rank,
                    "rank_low": max(1, rank - (count * 7 + place) % 2),
                    "rank_high": min(len(column), rank + (count * 3 + place) % 3 // 2),
                }
            )
    return rows


def _flips(world: World, drawn: str) -> list[Json]:
    names = list(world.all_budgets())
    rows = []
    for ladder in ladders(world.all_budgets(), world.axis):
        for a, b in combinations(world.counts, 2):
            rows += _pair_flips(world, drawn, ladder, names, a, b)
    return rows


def _pair_flips(
    world: World, drawn: str, ladder: Ladder, names: list[str], a: str, b: str
) -> list[Json]:
    places = [names.index(name) for name in ladder.budgets]
    gaps = [world.counts[a][place] - world.counts[b][place] for place in places]
    apart = [place for place, gap in enumerate(gaps) if gap]
    rows = []
    for first, last in pairwise(apart):
        if gaps[first] * gaps[last] > 0:
            continue
        kind = world.kind(a, b, len(rows))
        old, new = (a, b) if gaps[first] > 0 else (b, a)

        def leads(name: str, at: int) -> bool:
            best = max(counts[places[at]] for counts in world.counts.values())
            return bool(world.counts[name][places[at]] == best)

        sure = kind == "confirmed"
        rows.append(
            {
                "slice": drawn,
                "agent_a": a,
                "agent_b": b,
                "ladder": ladder.name,
                "budget_from": ladder.budgets[first],
                "budget_to": ladder.budgets[last],
                "kind": kind,
                "support": 0.97 if kind == "suggestive" else 0.7,
                "confirmed_from": ladder.budgets[first] if sure else None,
                "confirmed_to": ladder.budgets[last] if sure else None,
                "old_leader": old,
                "new_leader": new,
                "lead": sure and leads(old, first) and leads(new, last),
            }
        )
    return rows


def _contrasts(world: World, drawn: str) -> list[Json]:
    empty = {key: None for key, _ in tables.CONTRASTS}
    return [
        empty
        | {
            "slice": drawn,
            "agent_a": a,
            "agent_b": b,
            "budget": name,
            "rejected": abs(world.counts[a][place] - world.counts[b][place]) > world.n / 4,
        }
        for a, b in combinations(world.counts, 2)
        for place, name in enumerate(world.all_budgets())
    ]


def _cells(world: World, controls: Json) -> pa.Table:
    """Outcomes as `_summary` counts them; each agent passes the first tasks in its own order."""
    subset = controls["task_subset"]
    names = list(world.all_budgets())
    rows = []
    for drawn in world.slices:
        tasks = [task for task, held in controls["tasks"].items() if held["split"] == drawn]
        points = {(row["agent"], row["budget"]): row for row in _summary(world, drawn)}
        for turn, agent in enumerate(world.counts):
            step = next(step for step in (7 + 2 * turn, 11, 13, 1) if math.gcd(step, world.n) == 1)
            for budget in names:
                row = points[agent, budget]
                found = [
                    outcome
                    for outcome, column in OUTCOME_COLUMNS
                    for _ in range(round((row[column] or 0.0) * world.n))
                ]
                found += ["FAIL_TEST"] * (world.n - len(found))  # what a changed row left out
                for place in range(len(tasks)):
                    task = tasks[place * step % len(tasks)]
                    held = controls["tasks"][task]
                    if subset is None or task in subset:
                        rows.append(
                            {"agent": agent, "budget": budget, "task": task, "control": False}
                            | {key: held[key] for key in ("split", "network")}
                            | {"outcome": found[place]}
                        )
    return pa.Table.from_pylist(rows)


@dataclass(frozen=True)
class Files:
    """Where a synthetic view's files lie."""

    statistics: Path
    controls: Path
    view: Path
    measured: Path
    cells: Path

    def draw(self, figure: str, out: Path) -> None:
        draw_figure(
            figure, self.statistics, self.controls, self.view, self.measured, self.cells, out
        )

    def read(self, figure: str) -> Inputs:
        return read_inputs(
            figure, self.statistics, self.controls, self.view, self.measured, self.cells
        )


def write(world: World, folder: Path) -> Files:
    """Write the files of a view into `folder`."""
    statistics = folder / "statistics"
    statistics.mkdir(parents=True)
    controls = controls_of(world)
    weights = [task.get("weight") or 1 for task in controls["tasks"].values()]
    effective = {"effective_n": sum(weights) ** 2 / sum(weight**2 for weight in weights)}
    summary = [row | effective for name in world.slices for row in _summary(world, name)]
    flips = [row for name in world.slices for row in _flips(world, name)]
    contrasts = [row for name in world.slices for row in _contrasts(world, name)]
    for name, rows, columns in (
        ("summary", summary, tables.SUMMARY),
        ("flips", flips, tables.FLIPS),
        ("contrasts", contrasts, tables.CONTRASTS),
    ):
        data = tables.parquet_bytes(rows, columns, controls)
        (statistics / f"{name}.parquet").write_bytes(data)
    pairs = list(combinations(world.counts, 2))

    def kinds(a: str, b: str) -> set[str]:
        return {row["kind"] for row in flips if (row["agent_a"], row["agent_b"]) == (a, b)}

    write_json(
        statistics / "statistics.json",
        {
            "pairs": len(pairs),
            "contrasts": len(contrasts) // len(world.slices),
            "confirmed_pairs": sum("confirmed" in kinds(a, b) for a, b in pairs),
            "suggestive_pairs": sum(
                "suggestive" in kinds(a, b) and "confirmed" not in kinds(a, b) for a, b in pairs
            ),
            "unresolved_pairs": 0,
            "alpha": 0.05,
            "resamples": 10000,
            "seed": DIGEST,
            "min_discordant": 9,
            "cannot_confirm": world.n < 9,
            "few_tasks": 9 <= world.n < 18,
            "n_for_80_power": 120,
            "rank_differs_unweighted": [],
        },
    )
    write_json(folder / "controls.json", controls)
    write_json(folder / "view.json", view_of(world))
    metadata = {b"frozenbench.controls": canonical_json(controls)}
    pq.write_table(
        _cells(world, controls).replace_schema_metadata(metadata), folder / "cells.parquet"
    )
    metadata[b"frozenbench.responses"] = json.dumps(world.responses).encode()
    measured = pa.table({"agent": pa.array([], pa.string())}).replace_schema_metadata(metadata)
    pq.write_table(measured, folder / "measured.parquet")
    return Files(
        statistics,
        folder / "controls.json",
        folder / "view.json",
        folder / "measured.parquet",
        folder / "cells.parquet",
    )


__all__ = ["DIGEST", "Files", "World", "build", "hex64", "write"]
