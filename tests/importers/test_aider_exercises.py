"""aider: exercises in their folders, those in which it failed, and entries of a leaderboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_files import aider_board, aider_exercise, put
from reading import by_task, named, read

PRACTICE = Path("exercises", "practice")
RESULTS = ".aider.results.json"


def test_an_exercise_of_two_languages_is_two_tasks(tmp_path: Path) -> None:
    for language, solved in (("go", True), ("python", False)):
        folder = tmp_path / "2025-01-01--run" / language / PRACTICE
        aider_exercise(folder, "bowling", [solved], testdir=f"{language}/bowling")
    found = read(tmp_path)
    assert {task: row.solved for task, row in by_task(found).items()} == {
        "go/bowling": True,
        "python/bowling": False,
    }
    assert {Path(row.run).name for row in found.rows} == {"2025-01-01--run"}


@pytest.mark.parametrize("below", [Path(), PRACTICE, Path("python") / PRACTICE])
def test_runs_lie_in_the_benchmark_s_folder(tmp_path: Path, below: Path) -> None:
    for run in ("first", "second"):
        aider_exercise(tmp_path / run / below, "bowling", [True], testdir=run)
    found = read(tmp_path)
    assert {Path(row.run).name: row.repeat for row in found.rows} == {"first": 0, "second": 1}
    assert len({row.task for row in found.rows}) == 1


def test_an_exercise_in_which_aider_failed_is_an_error_of_its_agent(tmp_path: Path) -> None:
    aider_exercise(tmp_path, "bowling", [True])
    put(tmp_path / "clock" / RESULTS, {"exception": "Traceback ...", "testdir": "bench/clock"})
    found = read(tmp_path)
    assert found.agents == ("model-a diff",)
    row = by_task(found)["clock"]
    assert (row.solved, row.error) == (None, "harness_broken")


def test_an_exception_in_another_file_is_none_of_aider(tmp_path: Path) -> None:
    put(tmp_path / "clock" / "other.json", {"exception": "Traceback ..."})
    assert named(read(tmp_path), "unknown_file")


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ([{"model": "m"}], ["m"]),
        ([{"model": "m", "edit_format": None}], ["m"]),
        ([{"model": "m", "edit_format": "diff"}], ["m diff"]),
        ([{"model": "m", "edit_format": "diff", "dirname": "d"}], ["m diff (d)"]),
        ([{"model": "m"}, {"model": "m"}], ["m (entry 1)", "m (entry 2)"]),
    ],
)
def test_an_entry_is_named_by_what_it_has(
    tmp_path: Path, entries: list[dict[str, object]], names: list[str]
) -> None:
    path = aider_board(tmp_path, [{**entry, "pass_rate_1": 20.5} for entry in entries])
    found = read(path)
    assert [figure.agent for figure in found.published] == names
