"""Whatever stands in the place of a value, a reader says which it is, or reads on without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozenbench.importers.recognise import read_file
from log_files import (
    detail,
    entry,
    hal_upload,
    inspect_header,
    inspect_json,
    leaderboards,
    mini_trajectory,
    put,
    report,
    sample,
    trial,
)
from mutated_logs import WRITERS, content, places, replace_in
from reading import by_task, named, read

WRITTEN = ("7", '"x"', "null", "[]", "{}", "[7]", "[[1]]", '{"a": {"b": [1]}}', "NaN", "true")


@pytest.mark.parametrize("name", WRITERS)
def test_no_value_of_another_shape_makes_a_reader_speak_as_a_programmer(
    tmp_path: Path, name: str
) -> None:
    path = WRITERS[name](tmp_path)
    before, said = path.read_bytes(), []
    for place in places(content(path)):
        for written in WRITTEN:
            replace_in(path, place, written)
            told = read_file(("auto", str(path), path.name))
            if "is not of the shape of" in told.message:
                said.append((place, written, told.message))
            path.write_bytes(before)
    assert said == []


@pytest.mark.parametrize(
    ("key", "held", "told"),
    [
        ("unresolved_ids", "t2", "unresolved_ids: 't2' is no list of tasks"),
        ("resolved_ids", ["t1", 5], "resolved_ids[1]: 5 is no name of a task"),
        ("resolved_ids", [None], "resolved_ids[0]: null is no name of a task"),
        ("error_ids", {"t3": 1}, "error_ids: {'t3': 1} is no list of tasks"),
    ],
)
def test_a_list_of_a_report_that_is_none_makes_no_runs(
    tmp_path: Path, key: str, held: object, told: str
) -> None:
    mini_trajectory(tmp_path, "t1")
    report(tmp_path, ["t1"], [], **{key: held}) if key != "resolved_ids" else put(
        tmp_path / "report.json", {"unresolved_ids": [], key: held}
    )
    found = read(tmp_path)
    assert [(row.task, row.solved) for row in found.rows] == [("t1", None)]
    assert told in named(found, "broken_file")[0]


@pytest.mark.parametrize("key", ["successful_tasks", "failed_tasks"])
@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("t2", ": 't2' is no list of tasks"),
        ([None], "[0]: null is no task"),
        ([True], "[0]: true is no task"),
    ],
)
def test_a_list_of_an_upload_that_is_none_makes_no_runs(
    tmp_path: Path, key: str, held: object, told: str
) -> None:
    found = read(hal_upload(tmp_path, {"t1": 1.0}, **{key: held}))
    assert found.rows == ()
    assert f"results.{key}{told}" in named(found, "broken_file")[0]


def test_a_report_of_an_upload_is_a_list_of_names_too(tmp_path: Path) -> None:
    raw = {"resolved_ids": ["t1"], "unresolved_ids": "t2"}
    log = {"config": {"agent_name": "a"}, "results": {}, "raw_eval_results": raw}
    found = read(put(tmp_path / "one_UPLOAD.json", log))
    assert "unresolved_ids: 't2' is no list of tasks" in named(found, "broken_file")[0]


@pytest.mark.parametrize("ids", [[1, 2], None])
def test_what_is_no_sample_is_named_by_its_place(tmp_path: Path, ids: list[int] | None) -> None:
    head = inspect_header(ids or [])
    if ids is None:
        del head["eval"]["dataset"]
    path = put(tmp_path / "log.json", {**head, "samples": [sample(1), {"epoch": 1}, 7]})
    found = read(path)
    errors = {task: row.error for task, row in by_task(found).items()}
    lacking = {} if ids is None else {"made_up/2": "missing_row"}
    assert errors == {"made_up/1": None, **lacking}
    assert named(found, "broken_file") == (
        "log.json: samples[1]: holds no id: no run, unless the header names its id",
        "log.json: samples[2]: 7 is no sample: no run, unless the header names its id",
    )


def test_samples_that_are_no_list_are_named(tmp_path: Path) -> None:
    path = put(tmp_path / "log.json", {**inspect_header([1]), "samples": 7})
    found = read(path)
    assert by_task(found)["made_up/1"].error == "missing_row"
    assert "log.json: samples: 7 is no list of samples" in named(found, "broken_file")


def test_a_log_without_its_samples_is_no_broken_one(tmp_path: Path) -> None:
    path = put(tmp_path / "log.json", {**inspect_header([1]), "samples": None})
    assert not named(read(path), "broken_file")
    assert not named(read(inspect_json(tmp_path, [sample(1)])), "broken_file")


def test_messages_that_are_no_list_are_told_by_their_key(tmp_path: Path) -> None:
    path = mini_trajectory(tmp_path, "t1")
    replace_in(path, ("messages",), "7")
    told = "t1.traj.json: messages: 7 is no list of messages"
    assert named(read(path), "broken_file") == (told,)


def test_steps_are_not_told_by_a_log_without_its_messages(tmp_path: Path) -> None:
    path = mini_trajectory(tmp_path, "t1")
    replace_in(path, ("messages",), "null")
    use = by_task(read(path))["t1"].use
    assert (use.steps, use.calls) == (None, 3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a":\n "b', "is no JSON (Unterminated string starting at line 2 column 2)"),
        ('{"a" 1}', "is no JSON (Expecting ':' delimiter at line 1 column 6)"),
    ],
)
def test_what_is_no_json_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    assert read_file(("auto", str(tmp_path / "a.json"), "a.json")).message == told


def test_a_line_that_is_no_json_is_told_with_one_number_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"agent": "a", "task": "t", "solved": true}\n{"agent": "b', "utf-8")
    told = "line 2: is no JSON (Unterminated string starting at column 11)"
    assert read_file(("auto", str(path), "a.jsonl")).message == told


def test_entries_of_a_board_that_are_none_are_named_one_by_one(tmp_path: Path) -> None:
    path = leaderboards(tmp_path, {"bash-only": [entry("m", 100.0, {"t1": detail(True, 1, 0.1)})]})
    log = content(path)
    log["leaderboards"][0]["results"] += [7, None, {"folder": "f"}]
    log["leaderboards"] += [7, {"name": "other", "results": 5}]
    found = read(put(path, log))
    assert [row.agent for row in found.rows] == ["m"]
    assert named(found, "no_rows") == (
        "bash-only: results[1]: 7 is no entry",
        "bash-only: results[2]: null is no entry",
        "f",
        "leaderboards[1]: 7 is no board",
        "other: results: 5 is no list of entries",
    )


def test_trials_of_one_name_that_differ_are_told_with_task_values_and_files(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", [trial("t1", submission="s")])
    put(tmp_path / "b.jsonl", [trial("t1", False, submission="s", total_input_tokens=7)])
    found = read(tmp_path)
    (told,) = named(found, "contradicting_duplicate")
    assert told.startswith("s on t1: solved true and false, tokens 120 and 27, ")
    assert told.endswith("/a.jsonl and " + told.rpartition(" and ")[2])
    assert told.endswith("/b.jsonl")
