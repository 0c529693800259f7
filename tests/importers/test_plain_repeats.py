"""The column `repeat` of plain rows: it may count from anything, or be names; it invents no run."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.cli import main
from frozenbench.importers import missing
from frozenbench.importers.gather import Imported, gather
from frozenbench.importers.study import Choice, Study, make_study
from hypothesis import given, settings
from hypothesis import strategies as st
from log_files import plain_csv, put

HEAD = "agent,task,solved,calls,repeat\n"


def imported(folder: Path, rows: list[tuple[str, str, str]]) -> Imported:
    text = "".join(f"{agent},{task},true,1,{repeat}\n" for agent, task, repeat in rows)
    return gather("plain", [plain_csv(folder, HEAD + text)], jobs=1)


def study(folder: Path, rows: list[tuple[str, str, str]], repeats: int | None = None) -> Study:
    return make_study(imported(folder, rows), Choice(repeats=repeats), "here: ")


def numbers(found: Study | Imported) -> dict[tuple[str, str], list[int | None]]:
    held: dict[tuple[str, str], list[int | None]] = {}
    for row in found.rows:
        held.setdefault((row.agent, row.task), []).append(row.repeat)
    return held


def missing_of(found: Study) -> tuple[str, ...]:
    return next((n.subjects for n in found.notices if n.kind == "missing_row"), ())


def full(agents: str, tasks: int, repeats: list[str]) -> list[tuple[str, str, str]]:
    return [(a, f"t{n}", repeat) for a in agents for n in range(tasks) for repeat in repeats]


NAMES = st.lists(
    st.one_of(st.integers(0, 10**16).map(str), st.text("abcxyz", min_size=1, max_size=4)),
    min_size=1,
    max_size=4,
    unique=True,
)


@given(names=NAMES)
@settings(max_examples=40, deadline=None)
def test_whatever_a_repeat_is_called_whole_runs_lack_nothing(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    found = study(tmp_path_factory.mktemp("r"), full("ab", 2, names))
    assert found.repeats == len(names)
    assert not found.refusals
    assert not found.notices
    assert all(held == list(range(len(names))) for held in numbers(found).values())


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["1", "2", "3"], ["1", "2", "3"]),
        (["10", "9", "2"], ["2", "9", "10"]),
        (["20251201"], ["20251201"]),
        (["b", "a"], ["a", "b"]),
        (["warm", "2"], ["2", "warm"]),
        (["1.0", "2"], ["1", "2"]),
    ],
)
def test_they_are_numbered_in_the_order_of_their_names(
    tmp_path: Path, names: list[str], order: list[str]
) -> None:
    held = imported(tmp_path, full("a", 1, names)).rows
    assert [row.repeat for row in held] == list(range(len(order)))
    assert [row.label or order[0] for row in held] == order


def test_two_agents_under_other_seeds_have_as_many_repeats(tmp_path: Path) -> None:
    found = study(tmp_path, full("a", 2, ["11", "12"]) + full("b", 2, ["21", "22"]))
    assert (found.repeats, found.refusals, missing_of(found)) == (2, (), ())


def test_a_missing_run_is_called_as_its_log_would_call_it(tmp_path: Path) -> None:
    rows = full("ab", 3, ["1", "2", "3"])
    for gone in (("a", "t1", "1"), ("b", "t2", "3")):
        rows.remove(gone)
    found = study(tmp_path, rows)
    assert missing_of(found) == ("a on t1, repeat 1", "b on t2, repeat 3")
    assert numbers(found)["a", "t1"] == [0, 1, 2], "the others keep their place"
    assert next(r for r in found.rows if (r.agent, r.task) == ("a", "t1")).error == "missing_row"


def test_an_agent_without_a_repeat_has_fewer_and_is_not_compared(tmp_path: Path) -> None:
    rows = full("a", 2, ["1", "2", "3"]) + full("b", 2, ["1", "3"])
    ((control, told, cure),) = study(tmp_path, rows).refusals
    assert (control, told) == ("repeats", "the agents ran different numbers of repeats: a 3, b 2")
    assert cure == "repeats: 2 compares the first of each"
    assert study(tmp_path, rows, repeats=2).refusals == ()


def test_the_first_repeat_alone_keeps_the_tasks_that_lack_it(tmp_path: Path) -> None:
    rows = full("ab", 3, ["1", "2"])
    rows.remove(("a", "t0", "1"))
    found = study(tmp_path, rows, repeats=1)
    assert found.tasks == ("t0", "t1", "t2")
    assert missing_of(found) == ("a on t0, repeat 1",)
    rows.remove(("b", "t0", "1"))
    assert study(tmp_path, rows, repeats=1).tasks == ("t0", "t1", "t2")


@pytest.mark.parametrize("tasks", [2, 3, 200])
@pytest.mark.parametrize("repeats", [None, 1])
def test_a_seed_of_each_run_is_no_repeat(tmp_path: Path, tasks: int, repeats: int | None) -> None:
    rows = [(agent, f"t{n}", str(20251201 + n)) for agent in "ab" for n in range(tasks)]
    told = f"runs.csv: repeat: '20251201' stands at 1 of {tasks} tasks of a, and .* would be "
    with pytest.raises(BadInput, match=told + "missing; cure: a number or name that all tasks"):
        study(tmp_path, rows, repeats)


@pytest.mark.parametrize("value", ["20251201", "999999999999999", "9" * 30, "1e14"])
def test_a_large_number_is_one_name_and_costs_nothing(
    tmp_path: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = plain_csv(tmp_path, f"{HEAD}a,t1,true,1,{value}\nb,t1,false,1,{value}\n")
    assert main(["import", "auto", str(path), "--out", str(tmp_path / "x.parquet")]) == 0
    assert "1 tasks, 1 repeats, 2 runs" in capsys.readouterr().out


def test_more_missing_runs_than_can_be_are_not_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows without a number are counted, and no column can be blamed."""
    monkeypatch.setattr(missing, "MOST_MISSING", 20)
    rows = full("a", 9, [""]) + full("a", 1, ["", ""])
    assert len(missing_of(study(tmp_path, rows))) == 16
    with pytest.raises(BadInput, match=r"runs.csv: repeat 3 of a on t0: .* 24 runs would be"):
        study(tmp_path, [*rows, ("a", "t0", "")])


def test_more_repeats_than_there_are_cannot_be_chosen(tmp_path: Path) -> None:
    rows = full("ab", 2, ["1"])
    assert study(tmp_path, rows, repeats=1).repeats == 1
    with pytest.raises(
        BadInput, match=r"here: repeats: 5: no agent has more than 1 .* cure: 1, or"
    ):
        study(tmp_path, rows, repeats=5)


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_what_is_no_name_is_a_mistake(tmp_path: Path, value: object) -> None:
    line = {"agent": "a", "task": "t", "solved": True, "repeat": value}
    found = gather("plain", [put(tmp_path / "runs.jsonl", [line])], jobs=1)
    assert "line 1: repeat: " in found.notices[0].subjects[0]
    assert "is no repeat; cure: a number or a name" in found.notices[0].subjects[0]


@pytest.mark.parametrize("value", [None, 1, 1.0, "1", " 1 ", ""])
def test_json_and_text_are_read_alike(tmp_path: Path, value: object) -> None:
    lines = [
        {"agent": "a", "task": "t", "solved": True, "repeat": value},
        {"agent": "a", "task": "t", "solved": True, "repeat": 2},
    ]
    found = gather("plain", [put(tmp_path / "runs.jsonl", lines)], jobs=1)
    assert [row.repeat for row in found.rows] == [0, 1]
