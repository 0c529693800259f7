"""What stands twice counts once; equal logs of runs that differ are no copies."""

from __future__ import annotations

import shutil
from pathlib import Path

from log_files import mini_trajectory, plain_csv, report
from reading import named, read

TASKS = ("t1", "t2")
ROWS = "agent,task,solved,calls\na,t1,true,1\na,t2,false,2\n"


def test_a_copied_run_counts_once(tmp_path: Path) -> None:
    for task in TASKS:
        mini_trajectory(tmp_path / "run", task)
    report(tmp_path / "run", ["t1"], ["t2"])
    shutil.copytree(tmp_path / "run", tmp_path / "run-backup")
    found = read(tmp_path)
    assert [(row.task, row.repeat, row.solved) for row in found.rows] == [
        ("t1", 0, True),
        ("t2", 0, False),
    ]
    (told,) = named(found, "duplicate")
    assert "run-backup (2 rows)" in told
    assert not named(found, "repeats_by_run")


def test_a_verdict_that_stands_beside_the_copy_alone_is_kept(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "a", "t1")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    report(tmp_path / "b", ["t1"], [])
    found = read(tmp_path)
    assert [row.solved for row in found.rows] == [True]
    assert named(found, "duplicate")


def test_a_copy_that_was_judged_otherwise_is_a_contradiction(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "a", "t1")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    report(tmp_path / "a", ["t1"], [])
    report(tmp_path / "b", [], ["t1"])
    found = read(tmp_path)
    assert [row.solved for row in found.rows] == [True]
    assert named(found, "contradicting_duplicate")


def test_a_run_that_shares_some_of_its_logs_is_no_copy(tmp_path: Path) -> None:
    for task in TASKS:
        mini_trajectory(tmp_path / "a", task)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    mini_trajectory(tmp_path / "b", "t2", calls=9)
    found = read(tmp_path)
    assert len(found.rows) == 4
    assert not named(found, "duplicate")


def test_one_table_under_two_names_counts_once(tmp_path: Path) -> None:
    plain_csv(tmp_path / "x", ROWS)
    plain_csv(tmp_path / "y", ROWS)
    found = read(tmp_path)
    assert len(found.rows) == 2
    assert "y/runs.csv (2 rows)" in named(found, "duplicate")[0]


def test_rows_that_are_alike_in_one_table_are_repeats(tmp_path: Path) -> None:
    found = read(plain_csv(tmp_path, ROWS + "a,t1,true,1\na,t2,false,2\n"))
    assert {row.repeat for row in found.rows} == {0, 1}
    assert not named(found, "duplicate")


def test_a_later_try_of_a_run_that_broke_stands_whole(tmp_path: Path) -> None:
    head = "agent,task,solved,calls,trial,error\n"
    plain_csv(tmp_path / "a", head + "a,t1,,90,x,harness died\na,t2,true,2,y,\n")
    plain_csv(tmp_path / "b", head + "a,t1,true,3,x,\na,t2,,70,y,harness died\n")
    found = read(tmp_path)
    rows = {row.task: row for row in found.rows}
    assert len(found.rows) == 2
    assert (rows["t1"].solved, rows["t1"].use.calls, rows["t1"].error) == (True, 3, None)
    assert (rows["t2"].solved, rows["t2"].use.calls) == (True, 2), "the first was whole"
    assert len(named(found, "retried")) == 1
