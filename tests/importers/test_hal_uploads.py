"""Uploads of HAL: what `raw_eval_results` is differs from benchmark to benchmark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from log_files import put
from reading import by_task, named, read


def upload(folder: Path, raw: Any, benchmark: str = "b", **more: Any) -> Path:
    results = more.pop("results", {})
    arguments = {"model_name": "model-x", "temperature": 0.0}
    about = {"agent_name": "hal", "run_id": "h", "benchmark_name": benchmark}
    config = {**about, "agent_args": arguments}
    held = {"config": config, "results": results, "raw_eval_results": raw, **more}
    return put(folder / f"{benchmark}_UPLOAD.json", held)


LISTS = {"successful_tasks": ["t1"], "failed_tasks": ["t2"], "accuracy": 0.5}


@pytest.mark.parametrize(
    "raw",
    [
        {"rdict": {"t1": []}, "sdict": {"t1": [], "t2": []}, "rs": [1], "ss": [0]},
        {"details": {"t1": ["1.1"], "t2": []}},
        {"t1": {"correct_written_answers": 2}, "t2": {"correct_written_answers": 0}},
        {"eval": {"model": "m"}, "status": "success", "version": 2, "samples": []},
        {"t1": {"score": True}, "t2": {"score": 0, "explanation": ""}},
        {"t1": True, "t2": 0},
        {},
    ],
)
def test_details_of_a_grader_are_no_tasks(tmp_path: Path, raw: Any) -> None:
    found = read(upload(tmp_path, raw, results=LISTS))
    assert {task: row.solved for task, row in by_task(found).items()} == {
        "b/t1": True,
        "b/t2": False,
    }
    assert found.notices == ()
    assert found.stated["hal"] == {"model name": "model-x", "temperature": "0.0"}


@pytest.mark.parametrize(
    ("benchmark", "n"), [("swebench_verified", 6), ("swebench_verified_mini", 5)]
)
def test_a_report_keeps_all_that_was_handed_in(tmp_path: Path, benchmark: str, n: int) -> None:
    report = {
        "total_instances": n,
        "resolved_ids": ["t1"],
        "unresolved_ids": ["t2", "t3"],
        "error_ids": ["t4"],
        "empty_patch_ids": ["t5"],
        "incomplete_ids": ["t6"],
        "schema_version": 2,
    }
    # HAL's own lists leave empty patches out.
    results = {"successful_tasks": ["t1"], "failed_tasks": ["t2", "t3", "t4"], "accuracy": 1 / 4}
    found = read(upload(tmp_path, report, benchmark, results=results))
    rows = by_task(found)
    assert len(rows) == n
    assert rows[f"{benchmark}/t4"].error == "grader_broken"
    assert rows[f"{benchmark}/t5"].solved is False
    assert len(named(found, "missing_row")) == n - 5
    assert named(found, "contradiction")


def test_a_text_is_the_error_that_an_agent_ended_with(tmp_path: Path) -> None:
    raw = {"t1": {"reward": 1.0}, "t2": "ERROR: the agent broke"}
    rows = by_task(read(upload(tmp_path, raw, results=LISTS)))
    assert (rows["b/t2"].error, rows["b/t2"].solved) == ("harness_broken", None)


def test_tasks_of_two_benchmarks_are_not_mixed(tmp_path: Path) -> None:
    upload(tmp_path, {"0": {"reward": 1.0}}, "airline")
    upload(tmp_path, {"0": {"reward": 0.0}}, "retail")
    assert set(by_task(read(tmp_path))) == {"airline/0", "retail/0"}


def test_an_upload_without_any_task_is_refused(tmp_path: Path) -> None:
    found = read(upload(tmp_path, {"details": {}}))
    assert "tells no task" in named(found, "broken_file")[0]


def call(number: int, parent: int | None, usage: Any) -> dict[str, Any]:
    attributes = {"weave_task_id": "t1"}
    return {
        "id": number,
        "parent_id": parent,
        "attributes": attributes,
        "summary": {"usage": usage},
    }


OPEN = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}}
APART = {"input_tokens": 1, "cache_read_input_tokens": 9, "output_tokens": 2}


@pytest.mark.parametrize("usage", [OPEN, APART])
def test_calls_inside_calls_count_once(tmp_path: Path, usage: dict[str, Any]) -> None:
    """The last entry, without an id, is a sum over calls and no call."""
    logs = [call(1, None, {"m": OPEN}), call(2, 1, {"m": usage}), call(3, 1, [{"m": usage}])]
    logs += [call(4, None, {}), {**call(5, None, {"m": APART}), "id": None}]
    found = read(upload(tmp_path, {"t1": {"reward": 1}}, raw_logging_results=logs))
    use = found.rows[0].use
    assert (use.calls, use.tokens_input, use.tokens_output, use.tokens) == (2, 30, 6, 36)


def test_newer_uploads_hold_calls_by_task(tmp_path: Path) -> None:
    logs = {"t1": {"call_count": 2, "call_metadata": [{"usage": OPEN}, {"usage": APART}]}}
    path = upload(
        tmp_path,
        {"t1": {"score": 1}},
        raw_logging_results=logs,
        results={"latencies": {"t1": {"total_time": 4.5}}, "overall_accuracy": 1.0},
        wall_clock_times={"t1": 9.0, "t2": 3.0},
        task_step_counts={"t1": 7},
    )
    found = read(path)
    use = found.rows[0].use
    assert (use.calls, use.steps, use.tokens, use.seconds) == (2, 7, 24, Decimal("4.5"))
    assert len(found.published) == 1
