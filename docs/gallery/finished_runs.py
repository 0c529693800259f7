"""The runs of an experiment under one budget, as a log of finished runs would tell them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


@dataclass(frozen=True)
class Step:
    """One model call: its tokens, and the seconds of the run when it had ended."""

    sent: int
    received: int
    at: float


@dataclass(frozen=True)
class Run:
    """One finished run; `green_after` is the number of calls at which its cell was decided."""

    agent: str
    task: str
    solved: bool
    hit_cap: bool
    edit_rounds: int
    seconds: float
    steps: tuple[Step, ...]
    green_after: int

    def sent(self, calls: int | None = None) -> int:
        """Return the input tokens of the first calls; None: of all."""
        return sum(step.sent for step in self.steps[:calls])

    def received(self, calls: int | None = None) -> int:
        """Return the output tokens of the first calls; None: of all."""
        return sum(step.received for step in self.steps[:calls])


@dataclass(frozen=True)
class Study:
    """The runs of all agents under one cap on calls, and what their controls state.

    `start` is the day of the model's answers at midnight: a run's time of day is not recorded.
    """

    name: str
    pack: str
    harness: str
    model: str
    cap: int
    start: datetime
    temperature: Mapping[str, float]
    seed: int
    runs: tuple[Run, ...]

    def by_agent(self) -> Iterator[tuple[str, list[Run]]]:
        """Yield every agent with its runs."""
        for agent in dict.fromkeys(run.agent for run in self.runs):
            yield agent, [run for run in self.runs if run.agent == agent]

    def clock(self, seconds: float) -> str:
        """Return the time so many seconds after the start."""
        return (self.start + timedelta(seconds=seconds)).isoformat() + "+00:00"


def load(results: Path, budget: str) -> Study:
    """Read cells, controls and sealed records of a published experiment under `results/`."""
    controls = json.loads((results / "controls.json").read_bytes())
    cells = [
        cell
        for cell in pq.read_table(results / "cells.parquet").to_pylist()
        if cell["budget"] == budget and not cell["control"]
    ]
    files = [results.parent / "runs" / cell["run_key"] / "run.json" for cell in cells]
    records = [json.loads(path.read_bytes()) for path in files]
    sheets = {cell["agent"]: controls["agents"][cell["agent"]]["sheet"] for cell in cells}
    one = sheets[cells[0]["agent"]]
    return Study(
        name=controls["experiment"]["name"],
        pack=controls["pack"]["digest"],
        harness=f"run semantics {controls['environment']['run_semantics']}",
        model=one["endpoint"]["model"],
        cap=controls["budgets"][budget]["max_tool_calls"],
        start=datetime.fromisoformat(records[0]["responses"]["first_date"]),
        temperature={agent: sheet["temperature"] for agent, sheet in sheets.items()},
        seed=one["seed"],
        runs=tuple(map(_run, cells, records)),
    )


def _run(cell: Mapping[str, Any], record: Mapping[str, Any]) -> Run:
    none = {"tokens_input": 0, "tokens_output": 0}
    meters = [none, *(step["meters"] for step in record["steps"])]
    steps = [
        Step(
            after["tokens_input"] - before["tokens_input"],
            after["tokens_output"] - before["tokens_output"],
            round(at, 3),
        )
        for (before, after), at in zip(
            pairwise(meters), record["measured"]["step_seconds"], strict=True
        )
    ]
    return Run(
        agent=cell["agent"],
        task=cell["task"],
        solved=cell["outcome"] == "PASS",
        hit_cap=record["ending"] == "cap:tool_calls",
        edit_rounds=record["meters"]["edit_rounds"],
        seconds=round(record["measured"]["seconds"], 3),
        steps=tuple(steps),
        green_after=cell["tool_calls"],
    )
