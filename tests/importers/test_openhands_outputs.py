"""Outputs of OpenHands in the forms of version 0 and 1, with what lies beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from log_files import openhands_line, put
from reading import by_task, named, read


def event(kind: str, number: int, **more: Any) -> dict[str, Any]:
    source = "agent" if kind == "ActionEvent" else "environment"
    stamp = f"2025-01-01T00:00:{number:02d}.000000"
    return {"kind": kind, "id": str(number), "timestamp": stamp, "source": source, **more}


def act(number: int, response: str) -> dict[str, Any]:
    return event("ActionEvent", number, action={"kind": "X"}, llm_response_id=response)


def line(task: str, **more: Any) -> dict[str, Any]:
    metadata = {
        "llm": {"model": "p/model-o", "temperature": 0.0},
        "max_iterations": 100,
        "max_attempts": 3,
    }
    history = [act(1, "r1"), event("ObservationEvent", 2), act(3, "r2"), act(4, "r2")]
    held = {"instance_id": task, "attempt": 1, "test_result": {"git_patch": ""}, "metrics": None}
    return {**held, "metadata": metadata, "history": history, "error": None, **more}


def test_events_of_version_1_are_read(tmp_path: Path) -> None:
    found = read(put(tmp_path / "output.jsonl", [line("t")]))
    (row,) = found.rows
    assert (row.agent, row.use.steps, row.use.calls, row.use.seconds) == ("p/model-o", 2, 2, 3)
    assert found.limits["p/model-o"] == {"steps": 100}
    stated = found.stated["p/model-o"]
    assert stated["temperature"] == "0.0"
    assert stated["harness version"] == "the best of up to 3 attempts by its own critic"


@pytest.mark.parametrize(
    ("error", "code", "ran_out", "broken"),
    [
        ("Agent reached maximum iterations limit (100).", None, "steps", None),
        ("Agent reached maximum budget limit ($1.0000)", None, "cost", None),
        ("Remote conversation ended with error", "MaxIterationsReached", "steps", None),
        (None, "MaxBudgetReached", "cost", None),
        (None, "LLMAuthenticationError", None, "harness_broken"),
        ("docker died", None, None, "harness_broken"),
        ("Remote conversation got stuck", None, None, None),
    ],
)
def test_endings_of_version_1(
    tmp_path: Path, error: str | None, code: str | None, ran_out: str | None, broken: str | None
) -> None:
    one = line("t", error=error)
    one["history"] += [event("ConversationErrorEvent", 9, code=code)] if code else []
    (row,) = read(put(tmp_path / "output.jsonl", [one])).rows
    assert (row.ran_out, row.error) == (ran_out, broken)


def test_instances_whose_attempts_all_broke_stay_in_n(tmp_path: Path) -> None:
    put(tmp_path / "output.jsonl", [line("t1", test_result={"report": {"resolved": True}})])
    put(tmp_path / "output.critic_attempt_1.jsonl", [line("t1"), line("t2", error="docker died")])
    put(tmp_path / "output.critic_attempt_2.jsonl", [line("t2", error="docker died")])
    put(tmp_path / "metadata.json", {"dataset": "d", "max_iterations": 1, "eval_output_dir": "o"})
    put(tmp_path / "cost_report.jsonl", [{"sum": 1}])
    found = read(tmp_path)
    rows = by_task(found)
    assert (rows["t1"].solved, rows["t2"].error) == (True, "missing_row")
    assert len(named(found, "passed_over")) == 4
    assert not named(found, "unknown_file")


def test_an_instance_that_stands_twice_is_no_repeat(tmp_path: Path) -> None:
    lines = [openhands_line("t1"), openhands_line("t1"), openhands_line("t1", cost=9.0)]
    found = read(put(tmp_path / "output.jsonl", lines))
    assert [(row.task, row.repeat) for row in found.rows] == [("t1", 0)]
    assert named(found, "duplicate")
    assert named(found, "contradicting_duplicate")


def test_two_folders_are_two_runs(tmp_path: Path) -> None:
    for number, limit in enumerate((30, 30, 60)):
        one = openhands_line("t1", cost=0.1 * (1 + number))
        one["metadata"]["max_iterations"] = limit
        put(tmp_path / f"run{number}" / "output.jsonl", [one])
    found = read(tmp_path)
    assert sorted(row.repeat or 0 for row in found.rows) == [0, 0, 1]
    assert len(found.agents) == 2, "another cap is another agent"


@pytest.mark.parametrize(
    ("report", "solved", "error"),
    [
        ({"resolved": True, "error_eval": False}, True, None),
        ({"resolved": False, "error_eval": True}, None, "grader_broken"),
        ({"resolved": False, "test_timeout": True}, False, None),
    ],
)
def test_verdicts_with_empty_fields_are_verdicts(
    tmp_path: Path, report: dict[str, bool], solved: bool | None, error: str | None
) -> None:
    put(tmp_path / "output.jsonl", [openhands_line("t1")])
    verdict = {"instance_id": "t1", "test_result": {"report": report}, "history": None}
    put(tmp_path / "output.swebench_eval.jsonl", [verdict])
    (row,) = read(tmp_path).rows
    assert (row.solved, row.error) == (solved, error)


def test_the_short_form_is_read(tmp_path: Path) -> None:
    cost = {"input_tokens": 30, "output_tokens": 3, "total_cost": 0.5}
    base = {"attempt": 1, "max_attempts": 1, "cost": cost, "artifacts_url": "x", "error": None}
    lines = [
        {**base, "instance_id": "t1", "status": "success", "resolved": True},
        {**base, "instance_id": "t2", "status": "error", "resolved": None, "error": "broke"},
    ]
    rows = by_task(read(put(tmp_path / "output.jsonl", lines)))
    assert (rows["t1"].solved, rows["t1"].use.tokens) == (True, 33)
    assert rows["t2"].error == "harness_broken"
