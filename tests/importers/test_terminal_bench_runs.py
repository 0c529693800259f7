"""Folders of terminal-bench runs as its harness writes them: a run's results over its trials'."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_files import put, trial
from reading import by_task, named, read


def run(folder: Path, tasks: list[str] | None = None) -> None:
    about = {"run_id": "r", "dataset_name": "d", "agent_name": "term", "task_ids": tasks}
    put(folder / "run_metadata.json", about)
    lock = {"harness": {"version": "0.2.17"}, "run_config": {"global_agent_timeout_sec": 60.0}}
    put(folder / "tb.lock", lock)


def own(folder: Path, task: str, resolved: bool = True) -> None:
    held = trial(task, resolved)
    put(folder / task / held["trial_name"] / "results.json", held)


def test_trials_below_a_run_are_read_with_it(tmp_path: Path) -> None:
    run(tmp_path)
    for task in ("t1", "t2", "t3"):
        own(tmp_path, task)
    put(tmp_path / "results.json", {"id": "r", "results": [trial("t1"), trial("t2")]})
    found = read(tmp_path)
    assert set(by_task(found)) == {"t1", "t2", "t3"}, "one that the run's file lacks, too"
    assert found.agents == ("term",)
    assert not named(found, "duplicate")
    assert found.limits["term"] == {"seconds": 60}
    assert found.stated["term"]["harness version"] == "terminal-bench 0.2.17"


def test_trials_of_a_run_that_was_stopped_are_the_run_s(tmp_path: Path) -> None:
    run(tmp_path)
    own(tmp_path, "t1")
    own(tmp_path, "t2", resolved=False)
    found = read(tmp_path)
    assert {task: row.solved for task, row in by_task(found).items()} == {"t1": True, "t2": False}
    assert found.agents == ("term",), "not the folder of each trial"


def test_a_task_of_the_run_without_a_trial_is_an_error(tmp_path: Path) -> None:
    run(tmp_path, ["t1", "t2"])
    put(tmp_path / "results.json", {"id": "r", "results": [trial("t1")]})
    found = read(tmp_path)
    assert named(found, "missing_row") == ("term on t2",)
    assert len(found.rows) == 2


@pytest.mark.parametrize(
    ("mode", "ran_out", "ending"),
    [
        ("context_length_exceeded", "context", "context_length_exceeded"),
        ("output_length_exceeded", "context", "output_length_exceeded"),
        ("fatal_llm_parse_error", None, "fatal_llm_parse_error"),
        ("unknown", None, "unknown: unknown"),
        ("moon", None, "unknown: moon"),
    ],
)
def test_endings_of_the_model_s_own(
    tmp_path: Path, mode: str, ran_out: str | None, ending: str
) -> None:
    (row,) = read(put(tmp_path / "results.json", trial("t", False, mode))).rows
    assert (row.ran_out, row.ending, row.error, row.solved) == (ran_out, ending, None, False)
