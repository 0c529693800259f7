"""Folders of Harbor jobs as Harbor 0.26 writes them: trials, their steps, and all that lies beside."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from log_files import atif, harbor_trial, mini_trajectory, openhands_line, put
from reading import by_task, named, read

REWARDS = {"rewards": {"reward": 1.0}}


def trial(folder: Path, task: str, **more: Any) -> Path:
    """Write a trial with more or other fields; return its folder."""
    path = harbor_trial(folder, task)
    held = {
        "task_name": task,
        "trial_name": f"{task}__abc",
        "agent_info": {"name": "arm", "version": "2", "model_info": {"name": "p/model-h"}},
        "agent_result": {"n_input_tokens": 40, "n_output_tokens": 4, "cost_usd": 0.5},
        "verifier_result": REWARDS,
        "exception_info": None,
        **more,
    }
    put(path, held)
    return path.parent


def job(folder: Path, trials: int) -> None:
    put(folder / "result.json", {"n_total_trials": trials, "stats": {"n_completed_trials": 1}})
    put(folder / "config.json", {"job_name": folder.name})
    put(folder / "lock.json", {"trials": []})


def test_what_lies_in_a_job_s_folder_is_part_of_it(tmp_path: Path) -> None:
    job(tmp_path / "job", 1)
    folder = trial(tmp_path / "job", "t1")
    put(folder / "config.json", {"trial_name": "t1__abc"})
    put(folder / "lock.json", {"task": {}})
    put(folder / "artifacts" / "manifest.json", [{"source": "/logs"}])
    put(folder / "verifier" / "reward.json", {"reward": 1})
    put(folder / "verifier" / "ctrf.json", {"results": []})
    # The agent's own logs would else be further runs of other harnesses.
    mini_trajectory(folder / "agent", "t1")
    put(folder / "agent" / "output.jsonl", [openhands_line("t1")])
    put(folder / "agent" / "sessions" / "a" / "x.jsonl", [{"type": "user"}])
    atif(folder / "agent" / "trajectory.json")
    found = read(tmp_path)
    assert [(row.agent, row.task) for row in found.rows] == [("arm p/model-h", "t1")]
    assert (found.rows[0].use.calls, found.rows[0].run) == (2, f"{tmp_path.name}/job")
    assert {notice.kind for notice in found.notices} == {"passed_over"}


def test_trials_of_a_job_that_have_no_result_are_counted(tmp_path: Path) -> None:
    job(tmp_path, 5)
    trial(tmp_path, "t1")
    (told,) = named(read(tmp_path), "unfinished_log")
    assert "1 of 5 trials have a result" in told


@pytest.mark.parametrize(
    ("kind", "ran_out", "error"),
    [
        ("AgentTimeoutError", "seconds", None),
        ("ContextWindowExceededError", "context", None),
        ("OutputLengthExceededError", "context", None),
        ("NonZeroAgentExitCodeError", None, None),
        ("AgentSafetyRefusalError", None, None),
        ("VerifierTimeoutError", None, "verifier_timeout"),
        ("RewardFileNotFoundError", None, "grader_broken"),
        ("ApiRateLimitError", None, "harness_broken"),
        ("CancelledError", None, "harness_broken"),
        ("SomeErrorOfAnAgent", None, "harness_broken"),
    ],
)
def test_what_an_exception_says(
    tmp_path: Path, kind: str, ran_out: str | None, error: str | None
) -> None:
    trial(tmp_path, "t1", exception_info={"exception_type": kind})
    (row,) = read(tmp_path).rows
    assert (row.ending, row.ran_out, row.error, row.solved) == (kind, ran_out, error, True)


@pytest.mark.parametrize(
    ("rewards", "solved", "error"),
    [
        ({"reward": 1, "speed": 0.2}, True, None),
        ({"score": 1}, True, None),
        ({"reward": 0.5}, False, None),
        ({"correct": 1, "speed": 0.2}, None, "unclear_grade"),
        ({}, None, "no_grade"),
    ],
)
def test_one_reward_is_the_verdict(
    tmp_path: Path, rewards: Mapping[str, float], solved: bool | None, error: str | None
) -> None:
    trial(tmp_path, "t1", verifier_result={"rewards": rewards})
    (row,) = read(tmp_path).rows
    assert (row.solved, row.error) == (solved, error)


def step(name: str, sent: int, exception: str | None = None) -> dict[str, Any]:
    return {
        "step_name": name,
        "agent_result": {"n_input_tokens": sent, "n_output_tokens": 1, "cost_usd": 0.1},
        "agent_execution": {
            "started_at": "2025-01-01T00:00:00Z",
            "finished_at": "2025-01-01T00:00:02Z",
        },
        "exception_info": exception and {"exception_type": exception},
    }


def test_a_trial_of_several_steps_is_their_sum(tmp_path: Path) -> None:
    steps = [step("one", 10), step("two", 20, "AgentTimeoutError")]
    folder = trial(tmp_path, "t1", agent_result=None, step_results=steps)
    for name in ("one", "two"):
        atif(folder / "steps" / name / "agent" / "trajectory.json")
    (row,) = read(tmp_path).rows
    assert (row.use.tokens, row.use.calls, row.use.steps) == (32, 4, 6)
    assert (row.use.cost, row.use.seconds) == (Decimal("0.2"), 4)
    assert (row.ran_out, row.error, row.solved) == ("seconds", None, True)


def test_arguments_and_the_job_s_clock_are_stated(tmp_path: Path) -> None:
    settings = {
        "timeout_multiplier": 2.0,
        "agent": {
            "override_timeout_sec": 30,
            "max_timeout_sec": 20,
            "kwargs": {"temperature": 0, "effort": "high"},
        },
    }
    trial(tmp_path, "t1", config=settings)
    found = read(tmp_path)
    stated = found.stated["arm p/model-h"]
    assert found.limits["arm p/model-h"] == {"seconds": 40}
    assert stated["temperature"] == "0"
    assert '"effort": "high"' in stated["harness version"]
    assert "tool schema" not in stated


def test_a_part_of_a_trial_s_trajectory_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = trial(tmp_path, "t1")
    atif(folder / "agent" / "trajectory.json", continued_trajectory_ref="trajectory.cont-1.json")
    found = read(tmp_path)
    assert (found.rows[0].use.calls, found.rows[0].use.tokens) == (None, 44)
    assert named(found, "part_missing")


# ATIF

STEPS = [
    {"source": "user", "timestamp": "2025-01-01T00:00:00Z"},
    {"source": "agent", "is_copied_context": True, "timestamp": "2024-01-01T00:00:00Z"},
    {
        "source": "agent",
        "timestamp": "2025-01-01T00:00:05Z",
        "llm_call_count": 3,
        "metrics": {"prompt_tokens": 5, "completion_tokens": 2},
    },
    {
        "source": "agent",
        "llm_call_count": 0,
        "tool_calls": [{}],
        "timestamp": "2025-01-01T00:01:00Z",
    },
]


def test_calls_are_those_of_the_model(tmp_path: Path) -> None:
    helper = {"schema_version": "ATIF-v1.7", "steps": [{"source": "agent"}] * 2}
    path = tmp_path / "a.trajectory.json"
    atif(path, steps=STEPS, final_metrics=None, subagent_trajectories=[helper])
    (row,) = read(path).rows
    assert (row.use.calls, row.use.steps, row.use.seconds) == (5, 1, 60)
    assert row.use.tokens == 7, "of its steps, where the whole is not told"


def test_half_a_sum_of_steps_is_no_sum(tmp_path: Path) -> None:
    path = tmp_path / "a.trajectory.json"
    atif(path, steps=[*STEPS, {"source": "agent"}], final_metrics={})
    assert read(path).rows[0].use.tokens is None


def test_the_trajectory_of_a_helper_is_no_run(tmp_path: Path) -> None:
    atif(tmp_path / "trajectory.json")
    agent = {"name": "arm-summary", "extra": {"parent_session_id": "s"}}
    atif(tmp_path / "trajectory.summarization-1-summary.json", agent=agent)
    found = read(tmp_path)
    assert list(by_task(found)) == ["trajectory"]
    assert "a helper" in named(found, "passed_over")[0]
