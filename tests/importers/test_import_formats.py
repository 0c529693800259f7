"""The other formats: outcome, use and ending of a row, as documented."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from frozenbench.importers import FORMATS
from log_files import (
    aider_board,
    aider_exercise,
    atif,
    hal_upload,
    harbor_trial,
    lm_eval_samples,
    openhands_line,
    openhands_verdicts,
    put,
    terminal_bench_run,
    trial,
)
from reading import by_task, named, read

# terminal-bench


@pytest.mark.parametrize(
    ("mode", "resolved", "ran_out", "error"),
    [
        ("unset", True, None, None),
        ("agent_timeout", True, "seconds", None),
        ("agent_timeout", False, "seconds", None),
        ("test_timeout", None, None, "test_timeout"),
        ("parse_error", None, None, "parse_error"),
        ("agent_installation_failed", False, None, "agent_installation_failed"),
        ("unknown_agent_error", False, None, "unknown_agent_error"),
    ],
)
def test_endings_of_terminal_bench(
    tmp_path: Path, mode: str, resolved: bool | None, ran_out: str | None, error: str | None
) -> None:
    (row,) = read(put(tmp_path / "results.json", trial("t", resolved, mode))).rows
    assert (row.solved, row.ran_out, row.error) == (resolved, ran_out, error)
    assert row.use.seconds == Decimal("2.5")


def test_a_doubled_run_is_found_and_null_grades_are_counted_both_ways(tmp_path: Path) -> None:
    trials = [trial("t1"), trial("t2", None, "parse_error"), trial("t3", False)]
    terminal_bench_run(tmp_path / "one", trials, accuracy=1 / 3)
    terminal_bench_run(tmp_path / "copy", trials, accuracy=1 / 3)
    found = read(tmp_path)
    assert len(found.rows) == 3
    notice = next(notice for notice in found.notices if notice.kind == "duplicate")
    assert (notice.count, notice.subjects) == (3, ("term: one (3 rows)",))
    assert named(found, "counting_rules") == (
        "term: 1 of 3 = 33.33 % with null grades as not solved; 1 of 2 graded = 50 %",
    )
    assert not named(found, "contradiction")
    assert len(named(found, "passed_over")) == 2, "the settings of both runs"


def test_tokens_of_0_are_not_reported(tmp_path: Path) -> None:
    path = put(tmp_path / "results.json", trial("t", total_input_tokens=0, total_output_tokens=0))
    assert read(path).rows[0].use.tokens is None


# Harbor and ATIF


@pytest.mark.parametrize(
    ("exception", "reward", "ran_out", "error"),
    [
        (None, 1.0, None, None),
        ("AgentTimeoutError", 0.0, "seconds", None),
        ("VerifierTimeoutError", None, None, "verifier_timeout"),
        ("DockerError", 0.0, None, "harness_broken"),
        (None, None, None, "no_grade"),
    ],
)
def test_endings_of_harbor(
    tmp_path: Path,
    exception: str | None,
    reward: float | None,
    ran_out: str | None,
    error: str | None,
) -> None:
    (row,) = read(harbor_trial(tmp_path, "t1", reward, exception)).rows
    assert (row.ran_out, row.error, row.agent) == (ran_out, error, "arm model-h")
    assert (row.use.tokens, row.use.seconds, row.use.cost) == (44, 60, Decimal("0.5"))


def test_a_trial_is_read_with_its_trajectory(tmp_path: Path) -> None:
    harbor_trial(tmp_path, "t1")
    atif(tmp_path / "t1__abc" / "agent" / "trajectory.json")
    (row,) = read(tmp_path).rows
    assert (row.use.calls, row.use.steps, row.solved) == (2, 3, True)


def test_parts_of_a_trajectory_are_summed(tmp_path: Path) -> None:
    atif(tmp_path / "a.trajectory.json", continued_trajectory_ref="trajectory.cont-1.json")
    agent = {"name": "arm", "model_name": "model-h", "extra": {"continuation_index": 1}}
    atif(tmp_path / "a.trajectory.cont-1.json", agent=agent)
    atif(tmp_path / "b.trajectory.json", continued_trajectory_ref="gone.json")
    found = read(tmp_path)
    rows = by_task(found)
    assert (rows["a"].use.tokens, rows["a"].use.calls) == (110, 4)
    assert rows["a"].use.cost == Decimal("0.25")
    assert rows["b"].use.tokens is None, "half of a sum is no sum"
    assert named(found, "part_missing")


# OpenHands, aider, lm-eval, HAL


def test_openhands_with_its_verdicts(tmp_path: Path) -> None:
    told = "RuntimeError: Agent reached maximum iteration. Current iteration: 30"
    lines = [
        openhands_line("t1"),
        openhands_line("t2", told),
        openhands_line("t3", "AgentStuckInLoopError: stuck"),
        openhands_line("t4", "docker died", cost=0.0),
    ]
    put(tmp_path / "output.jsonl", lines)
    openhands_verdicts(tmp_path, {"t1": True, "t2": False, "t3": False, "t4": False})
    rows = by_task(read(tmp_path))
    assert [rows[f"t{n}"].ran_out for n in (1, 2, 3, 4)] == [None, "steps", None, None]
    assert rows["t4"].error == "harness_broken"
    assert rows["t1"].solved is True
    assert (rows["t1"].use.steps, rows["t1"].use.calls, rows["t1"].use.tokens) == (2, 3, 33)
    assert rows["t1"].use.seconds == 9
    assert (rows["t1"].use.cost, rows["t4"].use.cost) == (Decimal("0.75"), None)


def test_the_resolver_s_own_judgement_is_said(tmp_path: Path) -> None:
    line = openhands_line("x") | {
        "issue": {"owner": "o", "repo": "r", "number": 5},
        "success": True,
    }
    found = read(put(tmp_path / "output.jsonl", [line]))
    assert by_task(found)["o/r#5"].solved is True
    assert named(found, "own_judgement")


def test_aider_uses_one_edit_round_for_each_outcome(tmp_path: Path) -> None:
    aider_exercise(tmp_path, "first", [True])
    aider_exercise(tmp_path, "second", [False, True])
    aider_exercise(tmp_path, "never", [False, False])
    aider_exercise(tmp_path, "full", [False, False], num_exhausted_context_windows=1)
    rows = by_task(read(tmp_path))
    used = {task: (row.solved, row.use.edit_rounds, row.ran_out) for task, row in rows.items()}
    assert used == {
        "first": (True, 1, None),
        "second": (True, 2, None),
        "never": (False, 2, "edit_rounds"),
        "full": (False, 2, "context"),
    }


def test_aider_s_boards_are_rates_without_rows(tmp_path: Path) -> None:
    right = {
        "model": "m",
        "dirname": "d1",
        "pass_rate_1": 20.4,
        "pass_num_1": 46,
        "test_cases": 225,
    }
    wrong = {
        "model": "m",
        "dirname": "d2",
        "pass_rate_1": 60.4,
        "pass_num_1": 46,
        "test_cases": 225,
    }
    found = read(aider_board(tmp_path, [right, wrong]))
    assert not found.rows
    assert [figure.solved for figure in found.published] == [46, 46]
    assert len(named(found, "contradiction")) == 1


def test_lm_eval_reads_one_filter_and_names_the_others(tmp_path: Path) -> None:
    rows = [
        {"doc_id": 0, "filter": "strict", "metrics": ["exact_match"], "exact_match": 1.0},
        {"doc_id": 0, "filter": "loose", "metrics": ["exact_match"], "exact_match": 1.0},
        {"doc_id": 1, "filter": "strict", "metrics": ["exact_match"], "exact_match": 0.0},
    ]
    found = read(lm_eval_samples(tmp_path / "model-l", rows))
    assert {row.task: row.solved for row in found.rows} == {"made_up/0": True, "made_up/1": False}
    assert len(named(found, "several_filters")) == 1
    assert found.agents == ("model-l",)


def test_hal_reads_seconds_and_not_milliseconds(tmp_path: Path) -> None:
    found = read(hal_upload(tmp_path, {"0": 1.0, "1": 0.0}, accuracy=0.9))
    row = by_task(found)["0"]
    assert (row.solved, row.use.seconds, row.use.cost) == (True, Decimal("1.5"), Decimal("0.001"))
    assert (row.use.tokens, row.use.steps) == (8, 2)
    assert named(found, "contradiction") == (
        "hal-agent (one_UPLOAD.json): published 90 %, its rows give 1 of 2 = 50 %",
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "value", [[], {}, 3, "x", None, [1, 2], {"a": {"b": 1}}, [[]], {"eval": 3}]
)
def test_no_json_of_any_shape_breaks_an_importer(tmp_path: Path, form: str, value: object) -> None:
    for name in ("x.json", "x.jsonl", "x.traj"):
        path = tmp_path / name
        path.write_text(json.dumps(value) + "\n", "utf-8")
        found = read(path, form)
        assert not found.rows
        assert named(found, "broken_file")
