"""Values that no run can have are not told, in every format, and named: none of them is silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozenbench.importers.gather import Imported
from log_files import aider_exercise, atif, put, trial
from mutated_logs import WRITERS, Place, replace_in
from reading import named, read

COUNTS = ("-3", "1e400", "NaN", "-Infinity", "1e20", "2.5", '"7"', "true", "[1]")
AMOUNTS = ("-3", "1e400", "NaN", "Infinity", "1e20", '"0.1"', "true", "[1]")
TIMES = ("-Infinity", '"soon"', "true", "[1]")

_TB: Place = ("results", 0)
_USAGE: Place = ("samples", 0, "model_usage", "m/one")
_STATS: Place = ("info", "model_stats")
_ENTRY: Place = ("leaderboards", 0, "results", 0, "per_instance_details", "t1")
_HAL_CALL: Place = ("raw_logging_results", 0, "summary", "usage", "m")
_HAL_TASK: Place = ("raw_logging_results", "t1", "call_metadata", 1, "usage")
#: Format, the place of a value, what is not told by it (None: another place of the log tells it).
COUNTED: list[tuple[str, Place, str | None]] = [
    ("boards", (*_ENTRY, "api_calls"), "calls"),
    ("details", ("t1", "api_calls"), "calls"),
    ("mini", (*_STATS, "api_calls"), "calls"),
    ("swe_agent", (*_STATS, "tokens_sent"), "tokens"),
    ("inspect", (*_USAGE, "total_tokens"), "tokens"),
    ("inspect", (*_USAGE, "output_tokens"), "tokens_output"),
    ("terminal_bench", (*_TB, "total_input_tokens"), "tokens"),
    ("trials", (0, "total_output_tokens"), "tokens"),
    ("atif", ("final_metrics", "total_prompt_tokens"), "tokens"),
    ("harbor", ("agent_result", "n_input_tokens"), "tokens"),
    ("harbor_steps", ("step_results", 0, "agent_result", "n_output_tokens"), "tokens"),
    ("openhands", (0, "metrics", "accumulated_token_usage", "prompt_tokens"), "tokens"),
    ("openhands", (0, "metadata", "max_iterations"), None),
    ("openhands_short", (0, "cost", "input_tokens"), "tokens"),
    ("aider", ("prompt_tokens",), "tokens"),
    ("hal", (*_HAL_CALL, "prompt_tokens"), "tokens"),
    ("hal_by_task", (*_HAL_TASK, "input_tokens"), "tokens"),
    ("hal_by_task", (*_HAL_TASK, "cache_read_input_tokens"), "tokens"),
    ("hal_by_task", ("raw_logging_results", "t1", "call_count"), None),
    ("hal_by_task", ("task_step_counts", "t1"), None),
]
MEASURED: list[tuple[str, Place, str | None]] = [
    ("boards", (*_ENTRY, "cost"), "cost"),
    ("details", ("t1", "cost"), "cost"),
    ("mini", (*_STATS, "instance_cost"), "cost"),
    ("swe_agent", (*_STATS, "instance_cost"), "cost"),
    ("inspect", ("samples", 0, "working_time"), None),
    ("inspect", ("samples", 0, "total_time"), None),
    ("inspect", ("eval", "config", "token_limit"), None),
    ("atif", ("final_metrics", "total_cost_usd"), "cost"),
    ("harbor", ("agent_result", "cost_usd"), "cost"),
    ("harbor_steps", ("config", "agent", "override_timeout_sec"), None),
    ("openhands", (0, "metrics", "accumulated_cost"), "cost"),
    ("openhands_short", (0, "cost", "total_cost"), "cost"),
    ("aider", ("cost",), "cost"),
    ("aider", ("duration",), "seconds"),
    ("hal", ("results", "costs", "t1"), "cost"),
    ("hal", ("results", "latencies", "t1"), "seconds"),
    ("hal_by_task", ("wall_clock_times", "t1"), None),
]
TIMED: list[tuple[str, Place, str | None]] = [
    ("mini", ("messages", 0, "extra", "timestamp"), "seconds"),
    ("terminal_bench", (*_TB, "agent_ended_at"), "seconds"),
    ("trials", (0, "agent_started_at"), "seconds"),
    ("atif", ("steps", 1, "timestamp"), "seconds"),
    ("harbor", ("agent_execution", "finished_at"), "seconds"),
    ("openhands", (0, "history", 0, "timestamp"), "seconds"),
]
#: Keys that are told by another: a time by that of its start.
_CALLED = {"agent_ended_at": "agent_started_at", "finished_at": "started_at", "costs": "cost"}
CASES = [
    pytest.param(name, place, field, written, id=f"{name}-{place[-1]}-{written}")
    for held, values in ((COUNTED, COUNTS), (MEASURED, AMOUNTS), (TIMED, TIMES))
    for name, place, field in held
    for written in values
]


def _with(tmp_path: Path, name: str, place: Place, written: str) -> Imported:
    path = WRITERS[name](tmp_path)
    replace_in(path, place, written)
    return read(path)


@pytest.mark.parametrize(("name", "place", "field", "written"), CASES)
def test_a_value_that_is_no_use_is_named_and_not_told(
    tmp_path: Path, name: str, place: Place, field: str | None, written: str
) -> None:
    found = _with(tmp_path, name, place, written)
    assert not named(found, "broken_file")
    (told,) = named(found, "odd_value")
    key = place[-2] if place[-1] == "t1" else place[-1]
    assert f": {_CALLED.get(key, key)}: " in told
    assert written.strip('"') in told.replace("1E+20", "1e20")
    if field is not None:
        assert found.rows[0].use.on(field) is None


@pytest.mark.parametrize(("name", "place"), [case[:2] for case in (*COUNTED, *MEASURED, *TIMED)])
def test_a_null_is_not_told_and_no_odd_value(tmp_path: Path, name: str, place: Place) -> None:
    assert not named(_with(tmp_path, name, place, "null"), "odd_value")


@pytest.mark.parametrize("name", WRITERS)
def test_a_log_as_it_should_be_names_no_value(tmp_path: Path, name: str) -> None:
    found = read(WRITERS[name](tmp_path))
    assert not named(found, "odd_value")
    assert not named(found, "odd_verdict")


@pytest.mark.parametrize(
    ("name", "place", "written"),
    [
        ("harbor", ("agent_execution", "finished_at"), '"2024-12-31T23:59:59Z"'),
        ("terminal_bench", (*_TB, "agent_ended_at"), '"2024-12-31T23:59:59Z"'),
        ("mini", ("messages", 3, "extra", "timestamp"), "99.5"),
    ],
)
def test_an_end_before_its_start_is_named(
    tmp_path: Path, name: str, place: Place, written: str
) -> None:
    found = _with(tmp_path, name, place, written)
    assert found.rows[0].use.seconds is None
    assert written.strip('"') in named(found, "odd_value")[0]


def test_two_marks_of_one_moment_are_no_end_before_a_start(tmp_path: Path) -> None:
    found = _with(tmp_path, "mini", ("messages", 3, "extra", "timestamp"), "100.4999")
    assert found.rows[0].use.seconds is None
    assert not named(found, "odd_value")


def test_values_are_named_with_their_run(tmp_path: Path) -> None:
    trials = [trial("t1", total_input_tokens=-5), trial("t2", total_input_tokens=-5)]
    found = read(put(tmp_path / "trials.jsonl", trials))
    assert named(found, "odd_value") == tuple(
        f"trials.jsonl: {task}.1-of-2: total_input_tokens: -5 is no use that a run can have"
        for task in ("t1", "t2")
    )


@pytest.mark.parametrize(("column", "written"), [("calls", "NaN"), ("cost", "1e999")])
def test_plain_lines_refuse_them_as_tables_do(tmp_path: Path, column: str, written: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"agent": "a", "task": "t", "solved": true, "{column}": {written}}}\n')
    found = read(path)
    assert found.rows == ()
    assert f"line 1: {column}: '{written}' is not" in named(found, "broken_file")[0]


VERDICTS: list[tuple[str, Place, str]] = [
    ("boards", (*_ENTRY, "resolved"), "resolved"),
    ("details", ("t1", "resolved"), "resolved"),
    ("terminal_bench", (*_TB, "is_resolved"), "is_resolved"),
    ("trials", (0, "is_resolved"), "is_resolved"),
    ("openhands_short", (0, "resolved"), "resolved"),
    ("openhands_issue", (0, "success"), "success"),
    ("aider", ("tests_outcomes", 1), "tests_outcomes[1]"),
    ("aider", ("tests_outcomes", 0), "tests_outcomes[0]"),
    ("hal", ("raw_eval_results", "t1", "reward"), "reward"),
    ("harbor", ("verifier_result", "rewards", "reward"), "reward"),
]


@pytest.mark.parametrize("written", ['"false"', '"1"', "NaN", '{"a": 1}'])
@pytest.mark.parametrize(("name", "place", "key"), VERDICTS)
def test_a_value_in_the_place_of_a_verdict_is_no_grade_and_named(
    tmp_path: Path, name: str, place: Place, key: str, written: str
) -> None:
    found = _with(tmp_path, name, place, written)
    row = found.rows[0]
    assert (row.solved, row.error) == (None, "unclear_grade")
    (told,) = named(found, "odd_verdict")
    assert f"{key}: {written.replace(chr(34), chr(39))} is neither true nor false" in told


@pytest.mark.parametrize(("name", "place", "key"), VERDICTS[:-2])
def test_a_number_is_no_verdict_where_the_format_has_truth_values(
    tmp_path: Path, name: str, place: Place, key: str
) -> None:
    found = _with(tmp_path, name, place, "1")
    assert found.rows[0].solved is None
    assert f"{key}: 1 is neither true nor false" in named(found, "odd_verdict")[0]


@pytest.mark.parametrize("name", ["instance", "openhands_verdicts"])
def test_a_verdict_beside_a_log_that_is_none_is_named(tmp_path: Path, name: str) -> None:
    place: Place = (
        ("t1", "resolved") if name == "instance" else (0, "test_result", "report", "resolved")
    )
    found = _with(tmp_path, name, place, '"true"')
    assert "t1: resolved: 'true' is neither true nor false" in named(found, "odd_verdict")[0]


@pytest.mark.parametrize(
    ("name", "place", "written", "told"),
    [
        ("inspect", ("samples", 0, "scores", "match", "value"), '"maybe"', "match: 'maybe'"),
        ("lm_eval", (0, "acc"), '"yes"', "acc: 'yes'"),
        ("harbor", ("verifier_result", "rewards"), '{"a": 1, "b": 0}', "rewards: {'a': 1, 'b': 0}"),
    ],
)
def test_a_grade_that_is_none_is_named_with_its_value(
    tmp_path: Path, name: str, place: Place, written: str, told: str
) -> None:
    found = _with(tmp_path, name, place, written)
    assert found.rows[0].error == "unclear_grade"
    assert f"{told} is neither" in named(found, "odd_verdict")[0]


@pytest.mark.parametrize(("told", "calls"), [(None, 2), (0, 1), (3, 4), (-3, None), ("2", None)])
def test_a_step_that_tells_no_number_of_calls_leaves_all_untold(
    tmp_path: Path, told: object, calls: int | None
) -> None:
    steps = [{"source": "agent", "llm_call_count": count} for count in (None, told)]
    found = read(atif(tmp_path / "trajectory.json", steps=steps))
    assert found.rows[0].use.calls == calls
    assert bool(named(found, "odd_value")) is (calls is None)


@pytest.mark.parametrize("outcomes", [[True, "false"], [False, None, True], "pass", 7])
def test_rounds_that_are_no_verdicts_make_no_grade(tmp_path: Path, outcomes: object) -> None:
    found = read(aider_exercise(tmp_path, "t1", [], tests_outcomes=outcomes))
    row = found.rows[0]
    assert (row.solved, row.error, row.ran_out) == (None, "unclear_grade", None)
    assert "tests_outcomes" in named(found, "odd_verdict")[0]
