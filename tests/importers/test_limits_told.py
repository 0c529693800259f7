"""Which limit ended a run of SWE-agent or mini-swe-agent: what its log says, and else nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from frozenbench.importers.budgets import cut
from frozenbench.importers.gather import gather
from frozenbench.importers.model import AXES, Row, Use
from frozenbench.importers.trajectories import reached
from hypothesis import given
from hypothesis import strategies as st
from log_files import mini_trajectory, report, swe_agent_trajectory
from reading import named, read


def swe_agent(
    folder: Path, status: str, limits: dict[str, Any] | None, calls: int, cost: float
) -> Row:
    """Write and read one trajectory of SWE-agent; `limits` None: it holds no config."""
    path = swe_agent_trajectory(folder, "t1", status, api_calls=calls, instance_cost=cost)
    log = json.loads(path.read_text("utf-8"))
    log["replay_config"] = limits and {"agent": {"model": {"name": "m", **limits}}}
    path.write_text(json.dumps(log), "utf-8")
    report(folder, [], ["t1"])
    (row,) = read(folder).rows
    return row


COST, CALLS = "per_instance_cost_limit", "per_instance_call_limit"


@pytest.mark.parametrize("status", ["exit_cost", "submitted (exit_cost)"])
@pytest.mark.parametrize(
    ("limits", "calls", "cost", "ran_out"),
    [
        ({COST: 3.0, CALLS: 0}, 40, 3.2, "cost"),
        ({COST: 0, CALLS: 50}, 51, 9.0, "calls"),
        ({COST: 3.0, CALLS: 50}, 51, 1.5, "calls"),
        ({COST: 3.0, CALLS: 50}, 51, 3.2, "cost"),  # it looks at the cost first
        ({COST: 3.0, CALLS: 50}, 51, 3.0, "calls"),  # and stops above a limit, not at it
        ({COST: 3.0, CALLS: 50}, 50, 1.0, "calls"),
        ({COST: 3.0, CALLS: 50}, 12, 1.0, "unknown"),
        ({COST: 3.0}, 12, 1.0, "unknown"),
        ({}, 12, 1.0, "unknown"),
        (None, 12, 9.0, "unknown"),
    ],
)
def test_exit_cost_is_compared_with_the_limits_that_the_log_states(
    tmp_path: Path,
    status: str,
    limits: dict[str, Any] | None,
    calls: int,
    cost: float,
    ran_out: str,
) -> None:
    row = swe_agent(tmp_path, status, limits, calls, cost)
    assert row.ran_out == ran_out
    assert row.inferred == (ran_out != "unknown"), "found by comparing, and said"
    found = cut(row, AXES["steps"], 99)
    meter = {"cost": "spend", "calls": "tool_calls", "unknown": "unknown"}[ran_out]
    assert (found.outcome, found.cap_hit) == ("EXHAUSTED", meter), "in any case"


def test_a_limit_of_which_the_log_does_not_tell_which_is_named(tmp_path: Path) -> None:
    swe_agent(tmp_path, "exit_cost", None, 12, 1.0)
    found = read(tmp_path)
    (told,) = named(found, "limit_not_told")
    assert told.endswith("on t1: exit_cost")
    assert not named(found, "unknown_ending")


@pytest.mark.parametrize("status", ["LimitsExceeded", "exit_cost"])
def test_the_harness_s_limit_given_beside_the_logs_tells_it(tmp_path: Path, status: str) -> None:
    if status == "exit_cost":
        swe_agent(tmp_path, status, None, 12, 1.0)
    else:
        mini_trajectory(tmp_path, "t1", status, calls=12, cost=1.0)
    for axis, limit, ran_out in (
        ("calls", 12, "calls"),
        ("calls", 13, "unknown"),
        ("cost", 1, "cost"),
    ):
        found = gather("auto", [tmp_path], jobs=1, limits={axis: Decimal(limit)})
        assert [row.ran_out for row in found.rows] == [ran_out]
        assert bool(named(found, "limit_not_told")) == (ran_out == "unknown")


@pytest.mark.parametrize(
    ("calls", "cost", "ran_out"),
    [(5, 3.0, "calls"), (5, 9.0, "calls"), (4, 3.0, "cost"), (4, 2.9, "unknown")],
)
def test_mini_swe_agent_stops_at_a_limit_and_looks_at_its_steps_first(
    tmp_path: Path, calls: int, cost: float, ran_out: str
) -> None:
    limits = {"step_limit": 5, "cost_limit": 3.0}
    mini_trajectory(tmp_path, "t1", "LimitsExceeded", calls, cost, limits)
    assert [row.ran_out for row in read(tmp_path).rows] == [ran_out]


uses = st.integers(0, 6)


@given(
    uses,
    uses,
    st.dictionaries(st.sampled_from(["calls", "cost"]), st.integers(1, 6)),
    st.booleans(),
)
def test_no_limit_is_named_that_was_not_stated_and_reached(
    calls: int, cost: int, stated: dict[str, int], exceeds: bool
) -> None:
    use = Use(calls=calls, cost=Decimal(cost))
    limits = {axis: Decimal(limit) for axis, limit in stated.items()}
    found = reached(use, limits, ("cost", "calls"), exceeds)
    met = {axis for axis in limits if (used := use.on(axis)) is not None and used >= limits[axis]}
    assert (found in met) if met else (found == "unknown")
    above = {axis for axis in met if (used := use.on(axis)) is not None and used > limits[axis]}
    assert not (exceeds and above) or found in above


@pytest.mark.parametrize(
    ("value", "told"),
    [(-1, "-1"), (10**16, "10000000000000000"), ("many", "'many'"), (True, "true"), ([1], "[1]")],
)
@pytest.mark.parametrize("key", ["api_calls", "instance_cost", "tokens_sent"])
def test_a_value_that_is_no_use_is_named_and_not_told(
    tmp_path: Path, key: str, value: object, told: str
) -> None:
    swe_agent_trajectory(tmp_path, "t1", **{key: value})
    swe_agent_trajectory(tmp_path, "t2")
    report(tmp_path, ["t1", "t2"], [])
    found = read(tmp_path)
    assert named(found, "odd_value") == (
        f"{tmp_path.name}/t1.traj: {key}: {told} is no use that a run can have",
    )


def test_a_sum_of_tokens_that_no_run_uses_is_named(tmp_path: Path) -> None:
    path = mini_trajectory(tmp_path, "t1", calls=2)
    log = json.loads(path.read_text("utf-8"))
    for message in log["messages"][1:]:
        message["extra"]["response"]["usage"]["prompt_tokens"] = 6 * 10**14
    path.write_text(json.dumps(log), "utf-8")
    found = read(tmp_path)
    assert found.rows[0].use.tokens is None
    assert "prompt_tokens: 1200000000000000" in named(found, "odd_value")[0]


def test_tokens_that_some_calls_do_not_report_are_not_told_and_no_odd_value(tmp_path: Path) -> None:
    path = mini_trajectory(tmp_path, "t1", calls=2)
    log = json.loads(path.read_text("utf-8"))
    log["messages"][1]["extra"].pop("response")
    path.write_text(json.dumps(log), "utf-8")
    found = read(tmp_path)
    assert found.rows[0].use.tokens is None
    assert not named(found, "odd_value")
