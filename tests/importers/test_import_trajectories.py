"""SWE-bench, trajectories and Inspect: outcome, use and ending of a row, as documented."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from log_files import (
    detail,
    entry,
    inspect_eval,
    inspect_json,
    leaderboards,
    mini_trajectory,
    put,
    report,
    sample,
    swe_agent_trajectory,
)
from reading import by_task, named, read

# SWE-bench


def test_a_leaderboard_gives_exact_costs_and_names_what_has_no_rows(tmp_path: Path) -> None:
    details = {"t1": detail(True, 4, 0.1), "t2": detail(False, 250, 0.30000000000000004)}
    boards = {"bash-only": [entry("a", 50.0, details), entry("b", 12.5, None)], "Other": []}
    found = read(leaderboards(tmp_path, boards))
    assert found.formats == ("swebench",)
    rows = by_task(found)
    assert rows["t1"].solved is True
    assert rows["t1"].use.cost == Decimal("0.1")
    assert rows["t2"].use.cost == Decimal("0.30000000000000004")
    assert (rows["t1"].ran_out, rows["t2"].ran_out) == (None, "calls"), "250 is its limit"
    assert found.limits["a"] == {"calls": 250, "cost": 3}
    assert named(found, "no_rows") == ("b (published 12.5 %)",)
    assert found.stated["a"]["harness version"] == "mini-swe-agent 9.9.9"


def test_a_board_that_repeats_an_earlier_one_is_passed_over(tmp_path: Path) -> None:
    details = {"t1": detail(True, 4, 0.1)}
    copy = entry("mini + a", 100.0, details, folder="same")
    boards = {"bash-only": [entry("a", 100.0, details, folder="same")], "Verified": [copy]}
    found = read(leaderboards(tmp_path, boards))
    assert found.agents == ("a",)
    assert "board Verified" in named(found, "passed_over")[0]


def test_a_published_rate_that_its_rows_contradict_is_named(tmp_path: Path) -> None:
    held = {f"t{n}": detail(n < 324, 1, 0.0) for n in range(500)}
    boards = {"bash-only": [entry("right", 64.8, held), entry("wrong", 64.93, held, folder="w")]}
    found = read(leaderboards(tmp_path, boards))
    assert named(found, "contradiction") == (
        "wrong: published 64.93 %, its rows give 324 of 500 = 64.8 % "
        "(324 of 499 would be the published figure)",
    )


@pytest.mark.parametrize("shape", ["alone", "by agent"])
def test_details_without_a_board(tmp_path: Path, shape: str) -> None:
    details = {"t1": detail(True, 4, 0.5)}
    folder = tmp_path / "agent-x"
    value = details if shape == "alone" else {"agent-x": details}
    found = read(put(folder / "per_instance_details.json", value))
    assert [(row.agent, row.task, row.use.calls) for row in found.rows] == [("agent-x", "t1", 4)]


def test_details_of_two_folders_are_repeats_and_no_copies(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        path = tmp_path / folder / "agent-x" / "per_instance_details.json"
        put(path, {"t1": detail(folder == "one", 4, 0.5)})
    found = read(tmp_path)
    assert [(row.agent, row.repeat, row.solved) for row in found.rows] == [
        ("agent-x", 0, True),
        ("agent-x", 1, False),
    ]
    assert [notice.kind for notice in found.notices] == ["repeats_by_run"]


# Trajectories


@pytest.mark.parametrize(
    ("status", "calls", "cost", "limits", "ran_out", "error"),
    [
        ("Submitted", 3, 0.5, {"step_limit": 5}, None, None),
        ("Submitted", 3, 3.8, {"cost_limit": 3.0}, None, None),
        ("LimitsExceeded", 5, 0.5, {"step_limit": 5, "cost_limit": 3.0}, "calls", None),
        ("LimitsExceeded", 2, 3.8, {"step_limit": 0, "cost_limit": 3.0}, "cost", None),
        ("LimitsExceeded", 2, 0.5, {"step_limit": 0, "cost_limit": 0}, "unknown", None),
        ("TimeExceeded", 2, 0.5, {}, "seconds", None),
        ("RepeatedFormatError", 2, 0.5, {}, None, None),
        ("BadRequestError", 2, 0.5, {}, None, "harness_broken"),
    ],
)
def test_endings_of_mini_swe_agent(
    tmp_path: Path,
    status: str,
    calls: int,
    cost: float,
    limits: dict[str, float],
    ran_out: str | None,
    error: str | None,
) -> None:
    mini_trajectory(tmp_path, "t1", status, calls, cost, limits)
    report(tmp_path, [], ["t1"])
    (row,) = read(tmp_path).rows
    assert (row.ran_out, row.error, row.solved) == (ran_out, error, False)
    assert (row.use.calls, row.use.tokens, row.agent) == (calls, 12 * calls, "model-m")


def test_verdicts_stand_beside_trajectories(tmp_path: Path) -> None:
    for task in ("t1", "t2", "t3", "t4"):
        mini_trajectory(tmp_path, task)
    report(tmp_path, ["t1", "t9"], ["t2"], error_ids=["t3"])
    rows = by_task(read(tmp_path))
    assert [rows[f"t{n}"].solved for n in (1, 2, 3, 4)] == [True, False, None, None]
    assert (rows["t3"].error, rows["t9"].error) == ("grader_broken", "missing_log")
    assert rows["t1"].use.seconds == Decimal("2.75")


def test_bare_messages_and_bare_history_have_an_unknown_ending(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    put(tmp_path / "old.traj.json", messages)
    swe_agent_trajectory(tmp_path, "older", status=None)
    found = read(tmp_path)
    assert {row.task: row.use.steps for row in found.rows} == {"old": 1, "older": 4}
    assert len(named(found, "unknown_ending")) == 2


@pytest.mark.parametrize(
    ("status", "ran_out", "error"),
    [
        ("submitted", None, None),
        # Its use is below every limit that it states.
        ("exit_cost", "unknown", None),
        ("submitted (exit_cost)", "unknown", None),
        ("submitted (exit_context)", "context", None),
        ("exit_total_execution_time", "seconds", None),
        ("exit_format", None, None),
        ("exit_command_timeout", None, None),
        ("exit_environment_error", None, "harness_broken"),
        ("submitted (exit_api)", None, None),
    ],
)
def test_endings_of_swe_agent(
    tmp_path: Path, status: str, ran_out: str | None, error: str | None
) -> None:
    (row,) = read(swe_agent_trajectory(tmp_path, "t1", status)).rows
    assert (row.ran_out, row.error) == (ran_out, error)
    assert row.use.cost == Decimal("0.25"), "not the cost of the whole batch"
    assert (row.use.calls, row.use.steps, row.use.tokens) == (4, 4, 100)


def test_an_ending_that_nobody_documented_is_named(tmp_path: Path) -> None:
    assert named(read(swe_agent_trajectory(tmp_path, "t1", "exit_moon")), "unknown_ending")


def test_calls_of_0_beside_steps_are_not_told(tmp_path: Path) -> None:
    (row,) = read(swe_agent_trajectory(tmp_path, "demo", api_calls=0)).rows
    assert (row.use.calls, row.use.steps) == (None, 4)


# Inspect


@pytest.mark.parametrize("zstd", [False, True])
def test_an_archive_is_read_in_both_compressions(tmp_path: Path, zstd: bool) -> None:
    path = inspect_eval(tmp_path, [sample(1), sample(2, "I"), sample(2, 1.0, epoch=2)], zstd)
    found = read(path)
    assert [(row.task, row.repeat, row.solved) for row in found.rows] == [
        ("made_up/1", 0, True),
        ("made_up/2", 0, False),
        ("made_up/2", 1, True),
    ]
    use = found.rows[0].use
    assert (use.calls, use.steps, use.tokens, use.seconds) == (3, 2, 7, Decimal("4.25"))


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = inspect_eval(tmp_path, [sample(1)], zstd=True)
    data = bytearray(path.read_bytes())
    data[80] ^= 0xFF
    path.write_bytes(bytes(data))
    found = read(path)
    assert [row.error for row in found.rows] == ["broken_member"], "never a smaller n"
    assert "log.eval" in named(found, "broken_file")[0]


@pytest.mark.parametrize(
    ("kind", "ran_out", "error"),
    [
        ("token", "tokens", None),
        ("time", "seconds", None),
        ("working", "seconds", None),
        ("message", "messages", None),
        ("context", "context", None),
        ("cost", "cost", None),
        ("operator", None, "stopped_by_operator"),
    ],
)
def test_a_budget_is_what_the_sample_s_limit_says(
    tmp_path: Path, kind: str, ran_out: str | None, error: str | None
) -> None:
    limited = sample(1, "I", limit={"type": kind, "limit": 5})
    found = read(inspect_json(tmp_path, [limited, sample(2, "I")], token_limit=500))
    rows = by_task(found)
    assert (rows["made_up/1"].ran_out, rows["made_up/1"].error) == (ran_out, error)
    assert rows["made_up/2"].ran_out is None
    assert found.limits["m/one"] == {"tokens": 500}, "config.limit is a number of samples"


def test_a_sample_that_is_listed_and_not_there_is_an_error(tmp_path: Path) -> None:
    found = read(inspect_eval(tmp_path, [sample(1)], zstd=False, ids=[1, 2]))
    assert by_task(found)["made_up/2"].error == "missing_row"
    assert named(found, "missing_row") == ("m/one on made_up/2",)


def test_grades_that_are_no_plain_pass(tmp_path: Path) -> None:
    odd = [sample(1, "P"), sample(2, 0.5), sample(3, None), sample(4, {"x": "C"}), sample(5, "N")]
    rows = by_task(found := read(inspect_json(tmp_path, odd)))
    solved = {task.removeprefix("made_up/"): row.solved for task, row in rows.items()}
    assert solved == {"1": False, "2": False, "3": None, "4": True, "5": False}
    assert len(named(found, "partial_grade")) == 2
    assert rows["made_up/3"].error == "no_grade"
