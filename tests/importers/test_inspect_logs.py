"""Logs of Inspect in all their forms: whose score counts, whose use, and what a log leaves out.

The shapes are those that inspect_ai 0.3.20, 0.3.63, 0.3.150 and 0.3.285 write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from frozenbench.importers import archive as reader
from log_files import inspect_header, inspect_json, put, sample
from reading import by_task, named, read
from zip_files import Member, archive


def write(folder: Path, header: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> Path:
    return put(folder / "log.json", {**header, "samples": list(samples)})


def packed(folder: Path, members: Mapping[str, Any]) -> Path:
    """Write an archive of these members; bytes as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "log.eval"
    held = {n: v if isinstance(v, bytes) else json.dumps(v).encode() for n, v in members.items()}
    path.write_bytes(archive([Member(name, data) for name, data in held.items()]))
    return path


def scored(**scores: Any) -> dict[str, Any]:
    return sample(1, None) | {"scores": {name: {"value": value} for name, value in scores.items()}}


def results(*names: tuple[str, str], headline: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return (name, scorer) of every score, and the headline."""
    held: dict[str, Any] = {"scores": [{"name": name, "scorer": scorer} for name, scorer in names]}
    return held | ({"headline": headline} if headline else {})


# Which score counts


@pytest.mark.parametrize(
    ("value", "solved", "error"),
    [
        ("C", True, None),
        ("I", False, None),
        ("P", False, None),
        ("N", False, None),
        ("yes", True, None),
        ("No", False, None),
        ("true", True, None),
        ("1.0", True, None),
        ("0.5", False, None),
        (True, True, None),
        (1, True, None),
        (0.0, False, None),
        (7, False, None),
        ("maybe", None, "unclear_grade"),
        ([1, 0], None, "unclear_grade"),
        ({"a": 1, "b": 0}, None, "unclear_grade"),
        (float("nan"), None, "no_grade"),
        (None, None, "no_grade"),
    ],
)
def test_a_value_counts_as_inspect_itself_counts_it(
    tmp_path: Path, value: Any, solved: bool | None, error: str | None
) -> None:
    one = sample(1, None) | {"scores": {"match": {"value": value}}}
    (row,) = read(inspect_json(tmp_path, [one])).rows
    assert (row.solved, row.error) == (solved, error)


def test_of_a_dict_the_headline_s_key_counts_and_else_the_first(tmp_path: Path) -> None:
    header = inspect_header([1])
    one = scored(judge={"a": 0, "b": 1})
    header["results"] = results(("a", "judge"), ("b", "judge"))
    assert read(write(tmp_path / "first", header, [one])).rows[0].solved is False
    headline = {"scorer": "judge", "score": "b", "metric": "mean"}
    header["results"] = results(("a", "judge"), ("b", "judge"), headline=headline)
    found = read(write(tmp_path / "headline", header, [one]))
    assert found.rows[0].solved is True
    assert named(found, "several_scorers") == ("made_up/1 of m/one: b of judge counts",)


def test_another_score_never_stands_in_for_a_missing_one(tmp_path: Path) -> None:
    header = inspect_header([1])
    header["results"] = results(("match", "match"), ("other", "other"), ("third", "third"))
    (row,) = read(write(tmp_path, header, [scored(other="C", third="C")])).rows
    assert (row.solved, row.error) == (None, "no_grade")


def test_a_log_that_broke_off_is_judged_by_the_planned_scorer(tmp_path: Path) -> None:
    header = inspect_header([1]) | {"status": "error", "results": None}
    header["eval"]["scorers"] = [{"name": "second"}]
    assert read(write(tmp_path, header, [scored(first="C", second="I")])).rows[0].solved is False


def test_a_published_rate_that_leaves_out_errors_is_named(tmp_path: Path) -> None:
    samples = [sample(1), sample(2), sample(3, "I"), sample(4, None, error={"message": "x"})]
    header = inspect_header([1, 2, 3, 4])
    accuracy = {"name": "accuracy", "value": 2 / 3}
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": accuracy}}
    header["results"] = {"scores": [score]}
    found = read(write(tmp_path, header, samples))
    assert named(found, "contradiction") == (
        "m/one (log.json): published 66.67 %, its rows give 2 of 4 = 50 % "
        "(2 of 3 would be the published figure)",
    )
    score["metrics"]["accuracy"]["value"] = 0.5
    assert not named(read(write(tmp_path, header, samples)), "contradiction")


# Whose use counts

SPANS = [
    {"event": "span_begin", "id": "s", "type": "solvers", "working_start": 0.01},
    {"event": "model", "span_id": "s"},
    {"event": "span_begin", "id": "j", "parent_id": "s", "type": "scorer"},
    {"event": "model", "span_id": "j", "output": {"usage": {"total_tokens": 100}}},
    {"event": "model", "span_id": "s"},
    {"event": "span_begin", "id": "e", "type": "scorers", "working_start": 3.25049},
    {"event": "span_begin", "id": "f", "parent_id": "e", "type": "scorer"},
    {
        "event": "model",
        "span_id": "f",
        "output": {"usage": {"total_tokens": 40, "output_tokens": 9, "total_cost": 0.3}},
    },
]
STEPS = [
    {"event": "step", "action": "begin", "type": "solver", "timestamp": "2025-01-01T00:00:00Z"},
    {"event": "model", "timestamp": "2025-01-01T00:00:01Z"},
    {"event": "step", "action": "begin", "type": "scorer", "timestamp": "2025-01-01T00:00:07Z"},
    {"event": "model", "output": {"usage": {"total_tokens": 40, "output_tokens": 9}}},
    {"event": "step", "action": "end", "type": "scorer", "timestamp": "2025-01-01T00:00:09Z"},
    {"event": "model", "timestamp": "2025-01-01T00:00:10Z"},
]


def test_models_that_grade_are_not_the_agent(tmp_path: Path) -> None:
    usage = {"m": {"total_tokens": 240, "output_tokens": 29, "total_cost": 0.7}}
    one = sample(1, events=SPANS, model_usage=usage, turn_count=2)
    use = read(inspect_json(tmp_path, [one])).rows[0].use
    assert (use.calls, use.steps, use.cost) == (2, 2, Decimal("0.4"))
    assert (use.tokens, use.tokens_input, use.tokens_output) == (100, 80, 20)
    assert use.seconds == Decimal("3.250"), "until scoring began"


def test_so_in_logs_from_before_spans(tmp_path: Path) -> None:
    usage = {"m": {"total_tokens": 60, "output_tokens": 19}}
    one = sample(1, events=STEPS, model_usage=usage)
    del one["working_time"], one["total_time"]
    use = read(inspect_json(tmp_path, [one])).rows[0].use
    assert (use.calls, use.tokens, use.tokens_output) == (2, 20, 10)
    assert use.seconds == 7


def test_cached_input_that_is_counted_apart_is_input(tmp_path: Path) -> None:
    usage = {"m": {"input_tokens": 3, "input_tokens_cache_read": 90, "output_tokens": 7}}
    usage["m"]["total_tokens"] = 100
    use = read(inspect_json(tmp_path, [sample(1, model_usage=usage)])).rows[0].use
    assert (use.tokens, use.tokens_input, use.tokens_cached) == (100, 93, 90)


# Limits and what a log states


def test_a_turn_is_a_call_and_of_two_clocks_the_shorter_counts(tmp_path: Path) -> None:
    limits = {"turn_limit": 5, "time_limit": 60, "working_limit": 20, "message_limit": 9}
    found = read(inspect_json(tmp_path, [sample(1)], **limits))
    assert found.limits["m/one"] == {"steps": 5, "calls": 5, "seconds": 20}
    assert found.stated["m/one"]["cap on calls or steps"] == "5, 9 messages"


def test_a_limit_on_output_tokens_ends_no_curve_along_all_tokens(tmp_path: Path) -> None:
    found = read(inspect_json(tmp_path, [sample(1)], token_limit=99, token_limit_type="output"))
    assert "tokens" not in found.limits.get("m/one", {})
    assert found.stated["m/one"]["cap on tokens"] == "99 (output)"


@pytest.mark.parametrize(
    ("limit", "ending", "ran_out", "error"),
    [
        ({"type": "turn"}, "limit: turn", "steps", None),
        ({"type": "custom", "reason": "a  b"}, "unknown: limit custom: a b", None, None),
        ({"type": "operator"}, "limit: operator", None, "stopped_by_operator"),
        ({"type": "moon"}, "unknown: limit moon: None", None, None),
    ],
)
def test_limits_that_are_no_meter(
    tmp_path: Path, limit: Mapping[str, str], ending: str, ran_out: str | None, error: str | None
) -> None:
    found = read(inspect_json(tmp_path, [sample(1, "I", limit=limit)]))
    (row,) = found.rows
    assert (row.ending, row.ran_out, row.error) == (ending, ran_out, error)
    assert bool(named(found, "unknown_ending")) == ending.startswith("unknown")


def test_temperature_and_seed_stand_in_the_plan(tmp_path: Path) -> None:
    header = inspect_header([1]) | {"plan": {"config": {"temperature": 0.0, "seed": 3}}}
    header["eval"] |= {
        "model_generate_config": {"temperature": 0.9, "top_p": 1},
        "sandbox": {"type": "docker"},
        "task_args_passed": {"split": "lite"},
    }
    stated = read(write(tmp_path, header, [sample(1)])).stated["m/one"]
    assert (stated["temperature"], stated["seed"]) == ("0.0", "3")
    assert stated["isolation"] == "docker"
    assert stated["harness version"] == "inspect_ai 0.0.1, split=lite"


@pytest.mark.parametrize("flaw", [{"error": {"message": "x"}}, {"invalidation": {"author": "x"}}])
def test_what_broke_is_an_error_whatever_its_score(tmp_path: Path, flaw: dict[str, Any]) -> None:
    found = read(inspect_json(tmp_path, [sample(1, "C", **flaw)]))
    assert found.rows[0].error in ("sample_error", "invalidated")
    assert named(found, "harness_error")


# What a log leaves out


def summary(number: int, **more: Any) -> dict[str, Any]:
    held = {key: sample(number)[key] for key in ("id", "epoch", "scores", "model_usage")}
    return {**held, "working_time": 4.25, "turn_count": 2, "completed": True, **more}


def test_an_unfinished_log_is_read_from_its_journal(tmp_path: Path) -> None:
    start = {"eval": {**inspect_header([1, 2, 3, 4])["eval"], "config": {"epochs": 2}}}
    members = {
        "_journal/start.json": start,
        "samples/1_epoch_1.json": sample(1),
        "_journal/summaries/1.json": [summary(1), summary(2, limit="time", scores={})],
        "_journal/summaries/10.json": [summary(3, completed=False)],
        "_journal/summaries/2.json": [summary(2, scores={"match": {"value": "I"}}, limit="time")],
    }
    found = read(packed(tmp_path, members))
    errors = {
        f"made_up/{n}": [row.error for row in found.rows if row.task == f"made_up/{n}"]
        for n in (1, 2, 3, 4)
    }
    assert list(errors.values()) == [
        [None, "missing_row"],
        [None, "missing_row"],
        ["unfinished", "missing_row"],
        ["missing_row", "missing_row"],
    ], "n is samples times epochs, whatever is lost"
    two = next(row for row in found.rows if row.task == "made_up/2")
    assert (two.solved, two.ran_out, two.use.tokens, two.use.calls) == (False, "seconds", 7, None)
    assert len(named(found, "use_not_told")) == 2
    assert named(found, "unfinished_log") == ("log.eval: status not ended, 3 of 8 samples",)


def test_a_damaged_sample_is_an_error_or_read_from_its_summary(tmp_path: Path) -> None:
    members = {
        "header.json": inspect_header([1, 2, 3]),
        "samples/1_epoch_1.json": sample(1),
        "samples/2_epoch_1.json": b"{",
        "samples/3_epoch_1.json": b"{",
        "samples/3_epoch_1/notes.txt": b"no sample",
        "summaries.json": [summary(1), summary(3)],
    }
    found = read(packed(tmp_path, members))
    rows = by_task(found)
    assert [rows[f"made_up/{n}"].error for n in (1, 2, 3)] == [None, "broken_member", None]
    assert len(named(found, "broken_file")) == 2, "both are named"
    assert rows["made_up/3"].use.steps == 2


def test_a_sample_that_is_too_large_is_read_from_its_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MOST_MEMBER", 2000)
    members = {
        "header.json": inspect_header([1]),
        "samples/1_epoch_1.json": sample(1, store={"x": "y" * 3000}),
        "summaries.json": [summary(1)],
    }
    found = read(packed(tmp_path, members))
    assert found.rows[0].solved is True
    assert named(found, "use_not_told")
    assert not named(found, "broken_file")


def test_a_sample_in_chunks_is_one_sample(tmp_path: Path) -> None:
    shell = {k: v for k, v in sample(1).items() if k not in ("messages", "events")}
    assistant, user = {"role": "assistant"}, {"role": "user"}
    folder = "samples/1_epoch_1"
    members = {
        "header.json": inspect_header([1]),
        f"{folder}/sample.json": {**shell, "message_refs": [[0, 2], [1, 4], [9, 12]]},
        f"{folder}/skeleton.json": {},
        f"{folder}/events/stats.json": {},
        f"{folder}/events/2.json": SPANS[2:],
        f"{folder}/events/0.json": SPANS[:2],
        f"{folder}/messages/0.json": [user, assistant],
        f"{folder}/messages/2.json": [assistant, user],
    }
    (row,) = read(packed(tmp_path, members)).rows
    assert (row.task, row.use.calls, row.use.steps, row.solved) == ("made_up/1", 2, 3, True)
    assert row.use.seconds == Decimal("3.250")


def test_a_sample_that_was_written_anew_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    held = [("header.json", inspect_header([1])), ("samples/1_epoch_1.json", sample(1, "I"))]
    held.append(("samples/1_epoch_1.json", sample(1, "C")))
    path.write_bytes(archive([Member(n, json.dumps(value).encode()) for n, value in held]))
    assert [row.solved for row in read(path).rows] == [True]


def test_samples_of_a_retried_log_are_the_same_runs(tmp_path: Path) -> None:
    header = inspect_header([1, 2])
    header["eval"]["task_id"] = "task-7"
    failed = sample(2, None, error={"message": "x"}, uuid="u1")
    write(tmp_path / "1", header, [sample(1, uuid="u0"), failed])
    header["eval"]["run_id"] = "r2"
    write(tmp_path / "2", header, [sample(1, uuid="u0"), sample(2, "C", uuid="u2")])
    found = read(tmp_path)
    assert [(row.task, row.repeat) for row in found.rows] == [("made_up/1", 0), ("made_up/2", 0)]


def test_the_same_task_logged_twice_is_repeats(tmp_path: Path) -> None:
    for number in (1, 2):
        header = inspect_header([1])
        header["eval"]["task_id"] = f"task-{number}"
        write(tmp_path / str(number), header, [sample(1)])
    assert [row.repeat for row in read(tmp_path).rows] == [0, 1]


@pytest.mark.parametrize(("limit", "due"), [(None, 9), (4, 4), ([2, 5], 3), (50, 9), ("odd", 9)])
def test_an_old_log_that_names_no_samples_says_how_many_lack(
    tmp_path: Path, limit: Any, due: int
) -> None:
    header = inspect_header([1], limit=limit)
    header["eval"]["dataset"] = {"samples": 9}
    found = read(write(tmp_path, header, [sample(1)]))
    assert f"holds 1 of {due} samples" in named(found, "unfinished_log")[0]


def test_the_first_version_held_one_score(tmp_path: Path) -> None:
    one = {"id": 1, "epoch": 1, "score": {"value": "C"}, "messages": []}
    header = inspect_header([1])
    header["results"] = {"scorer": {"name": "match"}, "metrics": {}}
    assert read(write(tmp_path, header, [one])).rows[0].solved is True


def test_a_header_that_names_no_model_is_refused(tmp_path: Path) -> None:
    found = read(packed(tmp_path, {"header.json": {"eval": {"task": "t"}, "status": "success"}}))
    assert "names no model" in named(found, "broken_file")[0]
    assert not found.rows
