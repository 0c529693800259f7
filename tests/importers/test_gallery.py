"""The gallery's logs: one small table of finished runs, written in every format, read again."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frozenbench.importers import FORMATS
from frozenbench.importers.budgets import pass_counts
from frozenbench.importers.command import Request, import_to_file
from frozenbench.importers.model import AXES
from log_files import put
from reading import named, read

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "gallery"))

from finished_runs import Run, Step, Study, load
from write_logs import WRITERS

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
#: (calls, solved, calls until green): agent `b` goes on after its green step, as the record has it.
RUNS = {
    "a": {"t1": (1, True, 1), "t2": (1, False, 1), "t3": (2, True, 2)},
    "b": {"t1": (4, True, 2), "t2": (4, False, 4), "t3": (4, True, 1)},
}
CAPS = ("0", "1", "2", "3", "4")
TOKENS = ("0", "11", "22", "43", "44")  # a call uses 11 tokens
FULL = 4


def made_up(agent: str, task: str) -> Run:
    calls, solved, green = RUNS[agent][task]
    steps = tuple(Step(sent=10, received=1, at=float(n)) for n in range(1, calls + 1))
    return Run(agent, task, solved, calls == FULL, calls, calls + 0.5, steps, green)


STUDY = Study(
    name="made_up",
    pack="0123",
    harness="run semantics 1",
    model="model-m",
    cap=FULL,
    start=datetime(2026, 1, 2),
    temperature={"a": 0.0, "b": 0.8},
    seed=7,
    runs=tuple(made_up(agent, task) for agent, tasks in RUNS.items() for task in tasks),
)


def outcomes(folder: Path, form: str, **asked: Any) -> dict[tuple[str, str, str], str]:
    """Write and import one format; return (agent, task, cap) -> outcome, in the study's names."""
    WRITERS[form](STUDY, folder / form)
    out = folder / "cells.parquet"
    assert import_to_file(Request("auto", (str(folder / form),), out, jobs=1, **asked)) < 2
    rows = pq.read_table(out, columns=["agent", "task", "budget", "outcome"]).to_pylist()
    numbered = {f"made_up/{place}": task for place, task in enumerate(sorted(RUNS["a"]))}
    found = {}
    for row in rows:
        (agent,) = set(row["agent"].split()) & set(RUNS)
        task = numbered.get(row["task"], row["task"].removeprefix("made_up/"))
        found[agent, task, row["budget"].rpartition("-")[2]] = row["outcome"]
    assert len(found) == len(rows)
    return found


def truncated(use: int, until: str = "calls") -> dict[tuple[str, str, str], str]:
    """Work out the same by hand; one call is `use` units, counted to the end or to green."""
    found = {}
    for agent, tasks in RUNS.items():
        for task, (calls, solved, green) in tasks.items():
            used = use * (calls if until == "calls" else green)
            for cap in CAPS if use == 1 else TOKENS:
                over = used > int(cap)
                unsolved = "EXHAUSTED" if calls == FULL else "FAIL_TEST"
                found[agent, task, cap] = "EXHAUSTED" if over else "PASS" if solved else unsolved
    return found


def test_every_format_has_a_writer_and_a_case() -> None:
    formats = {"inspect_json": "inspect", "inspect_eval": "inspect"}
    formats |= {"plain_csv": "plain", "plain_jsonl": "plain"}
    assert {formats.get(form, form) for form in WRITERS} == set(FORMATS)


@pytest.mark.parametrize(
    "form",
    [
        "plain_csv",
        "plain_jsonl",
        "swebench",
        "mini_swe_agent",
        "swe_agent",
        "inspect_json",
        "inspect_eval",
        "harbor",
        "openhands",
        "hal",
    ],
)
def test_logs_that_tell_calls_give_the_same_cells(tmp_path: Path, form: str) -> None:
    # The limit is stated beside the logs: the details of SWE-bench and Harbor's results hold none.
    found = outcomes(tmp_path, form, axis="calls", caps=CAPS, limits=(f"calls={FULL}",))
    assert found == truncated(use=1)


def test_hal_gives_the_same_cells_along_steps(tmp_path: Path) -> None:
    asked = {"axis": "steps", "caps": CAPS, "limits": (f"steps={FULL}",)}
    assert outcomes(tmp_path, "hal", **asked) == truncated(use=1)


@pytest.mark.parametrize(
    "form",
    [
        "plain_csv",
        "plain_jsonl",
        "mini_swe_agent",
        "swe_agent",
        "inspect_json",
        "inspect_eval",
        "terminal_bench",
        "harbor",
        "openhands",
        "hal",
    ],
)
def test_logs_that_tell_tokens_give_the_same_cells(tmp_path: Path, form: str) -> None:
    limits = (f"tokens={FULL * 11}",)
    found = outcomes(tmp_path, form, axis="tokens", caps=TOKENS, limits=limits)
    assert found == truncated(use=11)


def test_aider_s_rounds_end_at_green(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "aider", axis="edit_rounds", caps=CAPS)
    # Its importer calls every unsolved exercise one whose rounds ran out.
    assert found == {
        key: "EXHAUSTED" if outcome == "FAIL_TEST" else outcome
        for key, outcome in truncated(use=1, until="green").items()
    }
    assert found["b", "t1", "2"] == "PASS" != truncated(use=1)["b", "t1", "2"]


def test_lm_eval_tells_verdicts_alone(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "lm_eval")
    told = {(agent, task): outcome == "PASS" for (agent, task, _), outcome in found.items()}
    assert told == {(run.agent, run.task): run.solved for run in STUDY.runs}


def test_runs_are_read_from_a_published_experiment(tmp_path: Path) -> None:
    record = {
        "ending": "cap:tool_calls",
        "meters": {"edit_rounds": 1},
        "measured": {"seconds": 2.5, "step_seconds": [1.0, 2.0]},
        "responses": {"first_date": "2026-01-02"},
        "steps": [
            {"meters": {"tokens_input": 10, "tokens_output": 1}},
            {"meters": {"tokens_input": 30, "tokens_output": 3}},
        ],
    }
    cell = {"agent": "a", "task": "t", "budget": "calls-2", "control": False, "outcome": "PASS"}
    cells = [
        {**cell, "tool_calls": 1, "run_key": "k"},
        {**cell, "tool_calls": 1, "run_key": "gone", "budget": "calls-1"},
        {**cell, "tool_calls": 1, "run_key": "gone", "agent": "noop", "control": True},
    ]
    sheet = {"endpoint": {"model": "model-m"}, "temperature": 0.5, "seed": 7}
    controls = {
        "experiment": {"name": "made_up"},
        "pack": {"digest": "0123"},
        "environment": {"run_semantics": 1},
        "agents": {"a": {"sheet": sheet}},
        "budgets": {"calls-2": {"max_tool_calls": 2}},
    }
    put(tmp_path / "runs" / "k" / "run.json", record)
    put(tmp_path / "made_up" / "controls.json", controls)
    pq.write_table(pa.Table.from_pylist(cells), tmp_path / "made_up" / "cells.parquet")
    study = load(tmp_path / "made_up", "calls-2")
    steps = (Step(10, 1, 1.0), Step(20, 2, 2.0))
    assert study.runs == (Run("a", "t", True, True, 1, 2.5, steps, 1),)
    assert (study.name, study.model, study.cap, study.seed) == ("made_up", "model-m", 2, 7)


def test_the_committed_runs_hold_all_agents_and_tasks() -> None:
    found = read(GALLERY / "runs.csv")
    assert not named(found, "broken_file")
    counts = pass_counts(found.rows, AXES["calls"], (1, 2, 4, 8))
    # The counts of the table in docs/gallery/README.md.
    assert counts == {"oneshot": (6, 6, 6, 6), "repair": (4, 4, 5, 5), "resample": (0, 0, 0, 13)}
    assert len(found.rows) == 3 * 48
