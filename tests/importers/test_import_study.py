"""What is compared of an import, what is left out by name, and what refuses a score."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from frozenbench.importers.cells import count_rows
from frozenbench.importers.gather import Imported, gather
from frozenbench.importers.notices import needs_attention
from frozenbench.importers.study import Choice, Study, make_study
from log_files import mini_trajectory, plain_csv, report

HEAD = "agent,task,solved,calls,cost\n"


def imported(folder: Path, text: str, head: str = HEAD, **limits: int) -> Imported:
    own = {axis: Decimal(limit) for axis, limit in limits.items()}
    return gather("plain", [plain_csv(folder, head + text)], jobs=1, limits=own)


def study(folder: Path, text: str, head: str = HEAD, **choice: Any) -> Study:
    return make_study(imported(folder, text, head), Choice(**choice), "here: ")


def subjects(found: Study, kind: str) -> tuple[str, ...]:
    return next((notice.subjects for notice in found.notices if notice.kind == kind), ())


DIFFERENT = "a,t1,true,1,\na,t2,true,2,\nb,t2,false,1,\nb,t3,true,1,\n"


def test_agents_that_ran_different_tasks_are_not_compared(tmp_path: Path) -> None:
    found = study(tmp_path, DIFFERENT)
    assert [refusal[0] for refusal in found.refusals] == ["tasks"]
    assert subjects(found, "task_not_run_by_all") == ("t1: not by b", "t3: not by a")


def test_the_counts_of_each_agent_are_of_its_own_rows(tmp_path: Path) -> None:
    """Where a comparison is refused, nobody's n is that of the tasks of all."""
    text = "a,t1,true,1,\na,t1,false,1,\na,t2,true,2,\nb,t3,true,1,\n"
    for tasks, own in (("same", {"a": 4, "b": 1}), ("all", {"a": 6, "b": 3})):
        found = study(tmp_path, text, tasks=tasks)
        rows = list(count_rows(found, {}))
        assert {row["agent"]: row["n"] for row in rows} == own
        assert own == Counter(row.agent for row in found.rows)


def test_on_request_the_common_tasks_are(tmp_path: Path) -> None:
    found = study(tmp_path, DIFFERENT, tasks="common")
    assert found.refusals == ()
    assert found.tasks == ("t2",)
    assert subjects(found, "task_not_run_by_all"), "and what is left out is named all the same"


def test_or_a_missing_task_is_an_error_and_n_stays(tmp_path: Path) -> None:
    found = study(tmp_path, DIFFERENT, tasks="all")
    assert found.refusals == ()
    assert len(found.rows) == 6
    assert [row.error for row in found.rows if row.error] == ["missing_row", "missing_row"]
    assert subjects(found, "missing_row") == ("a on t3", "b on t1")


def test_a_missing_repeat_is_an_error(tmp_path: Path) -> None:
    found = study(tmp_path, "a,t1,true,1,\na,t1,false,1,\na,t2,true,2,\n")
    assert found.repeats == 2
    assert subjects(found, "missing_row") == ("a on t2, repeat 1",)
    assert len(found.rows) == 4


def test_different_numbers_of_repeats_are_refused_until_chosen(tmp_path: Path) -> None:
    text = "a,t1,true,1,\na,t1,false,1,\nb,t1,true,2,\n"
    assert [refusal[0] for refusal in study(tmp_path, text).refusals] == ["repeats"]
    found = study(tmp_path, text, repeats=1)
    assert found.refusals == ()
    assert found.repeats == 1


def test_an_agent_that_does_not_tell_the_axis_is_left_out_by_name(tmp_path: Path) -> None:
    text = "a,t1,true,1,0.5\na,t2,true,1,\nb,t1,true,1,0.1\nb,t2,true,1,0.2\n"
    found = study(tmp_path, text, axis="cost")
    assert found.agents == ("b",)
    assert subjects(found, "left_out") == ("a: cost is not told in 1 of 2 runs",)
    with pytest.raises(BadInput, match="one of calls"):
        study(tmp_path, text, axis="seconds")


def test_an_agent_of_any_name_is_left_out(tmp_path: Path) -> None:
    found = study(tmp_path, "a: b,t1,true,1,\nb,t1,true,1,0.1\n", axis="cost")
    assert found.agents == ("b",)


def test_an_axis_that_some_runs_do_not_tell_is_passed_over_by_name(tmp_path: Path) -> None:
    text = "a,t1,true,1,0.1\na,t2,true,,0.2\nb,t1,true,1,0.1\nb,t2,true,2,0.1\n"
    found = study(tmp_path, text)
    assert found.axis is not None
    assert found.axis.name == "cost"
    told = ("calls: not told in 1 of 4 runs (a)",)
    assert subjects(found, "axis_passed_over") == told
    found = study(tmp_path, text, axis="cost")
    assert (subjects(found, "axis_passed_over"), subjects(found, "axis_not_told")) == ((), told)
    assert not needs_attention(found.notices), "what was asked for is told"


def test_an_axis_that_no_run_tells_is_nothing_to_speak_of(tmp_path: Path) -> None:
    found = study(tmp_path, "a,t1,true,1,\na,t2,,,\n")
    assert not {"axis_passed_over", "axis_not_told"} & {notice.kind for notice in found.notices}


def test_without_any_use_runs_stand_as_they_were_run(tmp_path: Path) -> None:
    found = study(tmp_path, "a,t1,true\n", head="agent,task,solved\n")
    assert found.axis is None
    assert found.caps == ()


def test_caps_beyond_the_own_limit_are_named_and_left_out(tmp_path: Path) -> None:
    held = imported(tmp_path, "a,t1,true,3,\n", calls=4)
    found = make_study(held, Choice(axis="calls", caps=("1", "4", "8")), "here: ")
    assert found.caps == (1, 4)
    assert subjects(found, "cap_beyond_limit") == ("calls-8: the own limit is 4",)


def test_a_limit_that_the_config_states_ends_unsolved_runs(tmp_path: Path) -> None:
    rows = imported(tmp_path, "a,t1,false,8,\na,t2,true,8,\na,t3,false,3,\n", calls=8).rows
    assert [row.ran_out for row in rows] == ["calls", None, None]
    assert rows[0].inferred


def test_a_limit_that_the_config_states_shows_overshoot(tmp_path: Path) -> None:
    held = imported(tmp_path, "a,t1,true,9,\n", calls=8)
    assert [notice.kind for notice in held.notices] == ["overshoot"]
    assert held.limits == {"a": {"calls": Decimal(8)}}


def test_a_limit_of_the_log_that_the_config_states_again_counts_overshoot_once(
    tmp_path: Path,
) -> None:
    mini_trajectory(tmp_path, "t1", calls=3, limits={"step_limit": 2})
    for limits in (None, {"calls": Decimal(2)}):
        found = gather("auto", [tmp_path], jobs=1, limits=limits)
        told = [notice.count for notice in found.notices if notice.kind == "overshoot"]
        assert told == [1]


@pytest.mark.parametrize(
    ("agents", "told"),
    [((), "names none"), (("a", "a"), "'a' stands twice"), (("d",), "'d' is in no log")],
)
def test_a_choice_of_agents_that_is_none_is_named(
    tmp_path: Path, agents: tuple[str, ...], told: str
) -> None:
    with pytest.raises(BadInput, match=f"here: agents: {told}.*cure: "):
        study(tmp_path, "a,t1,true,1,\n", agents=agents)


def test_agents_are_chosen_in_their_order(tmp_path: Path) -> None:
    text = "a,t1,true,1,\nb,t1,true,1,\nc,t1,true,1,\n"
    found = study(tmp_path, text, agents=("c", "a"))
    assert found.agents == ("c", "a")
    assert subjects(found, "left_out") == ("b: not chosen",)


def test_controls_that_not_every_log_states_are_listed(tmp_path: Path) -> None:
    mini_trajectory(tmp_path, "t1", limits={"step_limit": 9})
    mini_trajectory(tmp_path, "t1", model="other")
    mini_trajectory(tmp_path / "more", "t1", limits={"step_limit": 9})
    report(tmp_path, ["t1"], [])
    found = gather("auto", [tmp_path], jobs=1)
    assert "temperature" not in found.not_stated
    assert "cap on calls or steps" in found.not_stated
    assert "seed" in found.not_stated


def test_two_cores_give_what_one_gives(tmp_path: Path) -> None:
    for number in range(40):
        mini_trajectory(tmp_path / "runs", f"t{number:02d}", calls=1 + number % 7)
    (tmp_path / "runs" / "t05" / "t05.traj.json").write_text('{"cut', "utf-8")
    (tmp_path / "runs" / "notes.txt").write_text("no log", "utf-8")
    report(tmp_path, [f"t{number:02d}" for number in range(0, 40, 2)], [])
    seen: list[tuple[int, int]] = []
    two = gather(
        "auto", [tmp_path], jobs=2, progress=lambda done, files: seen.append((done, files))
    )
    assert two == gather("auto", [tmp_path], jobs=1)
    assert seen[-1] == (42, 42)
    assert len(two.rows) == 39, "a broken file is named and the rest goes on"
    kinds = {notice.kind: notice.subjects for notice in two.notices}
    assert [subject.split(": ")[0].split("/", 1)[1] for subject in kinds["broken_file"]] == [
        "runs/t05/t05.traj.json"
    ]
    assert len(kinds["passed_over"]) == 1


def test_a_row_that_contradicts_its_own_copy_is_named(tmp_path: Path) -> None:
    head = "agent,task,solved,calls,trial\n"
    found = study(tmp_path, "a,t1,true,1,x\na,t1,false,1,x\n", head=head)
    assert [row.solved for row in found.rows] == [True]
    assert len(subjects(found, "contradicting_duplicate")) == 1
