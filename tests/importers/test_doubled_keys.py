"""Keys that stand twice in one object: the last counts, as in every JSON reader, and it is said."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from frozenbench.cli import main
from hypothesis import given
from hypothesis import strategies as st
from log_files import inspect_header, put, sample
from reading import by_task, named, read

ROW = '{"agent": "a", "task": "%s", "calls": 1, "solved": %s, "solved": %s}\n'


def rows(path: Path, *verdicts: tuple[str, str]) -> Path:
    """Write a plain log whose rows tell their verdict twice."""
    path.write_text("".join(ROW % (f"t{n}", *pair) for n, pair in enumerate(verdicts)), "utf-8")
    return path


def test_the_last_counts_and_file_key_and_count_are_named(tmp_path: Path) -> None:
    path = rows(tmp_path / "x.jsonl", ("true", "true"), ("true", "false"), ("false", "true"))
    found = read(path)
    assert [row.solved for row in found.rows] == [True, False, True]
    assert named(found, "doubled_key") == ('x.jsonl: "solved" in 2 objects, first in line 2',)


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (("true", "false"), True),
        (("true", "1"), True),  # equal in Python
        (("false", "false"), False),
        (("{}", "{}"), False),
    ],
)
def test_the_same_value_twice_is_harmless(
    tmp_path: Path, verdicts: tuple[str, str], told: bool
) -> None:
    details = '{"t": {"api_calls": 1, "resolved": %s, "resolved": %s}}'
    (tmp_path / "details.json").write_text(details % verdicts)
    assert bool(named(read(tmp_path), "doubled_key")) == told


def test_the_first_line_counts_once_though_it_is_read_twice(tmp_path: Path) -> None:
    found = read(rows(tmp_path / "x.jsonl", ("true", "false")))
    assert named(found, "doubled_key") == ('x.jsonl: "solved" in 1 object, in line 1',)


def test_a_task_that_stands_twice_in_a_file_is_named(tmp_path: Path) -> None:
    one, other = (f'{{"resolved": {word}, "api_calls": 2}}' for word in ("true", "false"))
    (tmp_path / "details.json").write_text(f'{{"t1": {one}, "t2": {one}, "t1": {other}}}')
    found = read(tmp_path)
    assert {task: row.solved for task, row in by_task(found).items()} == {"t1": False, "t2": True}
    (told,) = named(found, "doubled_key")
    assert told.endswith('details.json: "t1" in 1 object')


def test_members_of_an_archive_are_looked_at_too(tmp_path: Path) -> None:
    text = json.dumps(sample(1, "I"))
    doubled = text.replace('"scores"', '"scores": {"match": {"value": "C"}}, "scores"')
    assert doubled != text
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(inspect_header([1, 2])))
        archive.writestr("samples/1_epoch_1.json", doubled)
        archive.writestr("samples/2_epoch_1.json", json.dumps(sample(2)))
    found = read(tmp_path)
    assert sorted(row.solved is True for row in found.rows) == [False, True]
    (told,) = named(found, "doubled_key")
    assert told.endswith('log.eval: "scores" in 1 object, in samples/1_epoch_1.json')


def test_settings_that_stand_as_text_in_a_log_are_looked_at_too(tmp_path: Path) -> None:
    model = '"name": "m", "per_instance_cost_limit": 9, "per_instance_cost_limit": 2'
    log = {
        "trajectory": [{}],
        "info": {"exit_status": "submitted", "model_stats": {"api_calls": 1}},
        "replay_config": f'{{"agent": {{"model": {{{model}}}}}}}',
    }
    put(tmp_path / "t.traj", log)
    found = read(tmp_path)
    assert found.limits["m"]["cost"] == 2
    (told,) = named(found, "doubled_key")
    assert told.endswith('"per_instance_cost_limit" in 1 object, in replay_config')


def test_a_file_without_an_outcome_of_its_own_is_looked_at_too(tmp_path: Path) -> None:
    rows(tmp_path / "x.jsonl", ("true", "true"))
    patch = '{"t": {"model_patch": "%s"}'
    (tmp_path / "preds.json").write_text((patch + ', "t": {"model_patch": "%s"}}') % ("a", "b"))
    (told,) = named(read(tmp_path), "doubled_key")
    assert told.endswith('preds.json: "t" in 1 object')


@pytest.mark.parametrize(("verdicts", "status"), [(("true", "false"), 1), (("true", "true"), 0)])
def test_the_exit_status_tells(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verdicts: tuple[str, str],
    status: int,
) -> None:
    path = rows(tmp_path / "x.jsonl", verdicts)
    arguments = ["import", "auto", str(path), "--out", str(tmp_path / "o.parquet")]
    assert main(arguments) == status
    assert ("keys that stand twice" in capsys.readouterr().out) == bool(status)


def test_a_key_that_cannot_be_shown_is_shown_as_escapes_and_short(tmp_path: Path) -> None:
    key = "\\u0007" + "k" * 500
    pair = f'"{key}": 1, "{key}": 2'
    log = f'{{"resolved_ids": [], "unresolved_ids": [], {pair}}}'
    (tmp_path / "report.json").write_text(log)
    (told,) = named(read(tmp_path), "doubled_key")
    assert told.isprintable()
    assert len(told) < 200


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=6))
def test_whatever_stands_twice_with_other_values_is_told(pairs: list[tuple[str, bool]]) -> None:
    from frozenbench.importers.documents import parse
    from frozenbench.importers.doubles import Doubles

    doubles = Doubles()
    text = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in pairs)
    assert parse(f"{{{text}}}", doubles) == dict(pairs)
    differing = {key for key, _ in pairs if len({v for k, v in pairs if k == key}) > 1}
    told = {remark.subject for remark in doubles.remarks("f")}
    assert told == {f'f: "{key}" in 1 object' for key in differing}
