"""Who is one agent: repeats are asked for or evident, and never two settings under one name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from frozenbench.cli import main
from frozenbench.import_logs import import_logs
from frozenbench.import_plan import load_import_plan
from frozenbench.importers.agents import tails
from frozenbench.importers.gather import Imported, gather
from frozenbench.table import read_table
from hypothesis import given
from hypothesis import strategies as st
from log_files import aider_exercise, mini_trajectory, plain_csv, report, swe_agent_trajectory
from reading import named, read

Change = Callable[[dict[str, Any]], None]
TASKS = ("t1", "t2", "t3")


def change(path: Path, *changes: Change) -> None:
    log = json.loads(path.read_text("utf-8"))
    for one in changes:
        one(log)
    path.write_text(json.dumps(log), "utf-8")


def config(log: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = log["info"]["config"]
    return held


def run(folder: Path, calls: int = 3, *changes: Change, tasks: tuple[str, ...] = TASKS) -> None:
    """Write a run of mini-swe-agent with a report beside it."""
    for task in tasks:
        change(mini_trajectory(folder, task, calls=calls), *changes)
    report(folder, tasks[:1], tasks[1:])


def repeats(found: Imported) -> Mapping[str, set[int | None]]:
    return {
        agent: {row.repeat for row in found.rows if row.agent == agent} for agent in found.agents
    }


def test_two_folders_of_one_setting_are_repeats_and_said(tmp_path: Path) -> None:
    run(tmp_path / "first", calls=3)
    run(tmp_path / "second", calls=4)
    found = read(tmp_path)
    assert repeats(found) == {"model-m": {0, 1}}
    (told,) = named(found, "repeats_by_run")
    assert "3 of 3 tasks stand in several of 2 runs that state the same settings" in told
    assert not named(found, "told_apart")


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        (lambda log: config(log)["agent"].update(step_limit=50), "step_limit 50"),
        (lambda log: log["info"].update(mini_version="1.9.1"), "mini-swe-agent 1.9.1"),
        (
            lambda log: config(log)["model"]["model_kwargs"].update(temperature=0.5),
            "temperature 0.5",
        ),
        (lambda log: config(log)["agent"].update(system_template="Other words."), "second"),
        (lambda log: config(log)["model"]["model_kwargs"].update(top_p=0.5), "second"),
        (lambda log: config(log).update(agent_type="other.Agent"), "second"),
        (lambda log: config(log).update(environment={"timeout": 9}), "second"),
    ],
)
def test_what_the_logs_state_tells_two_agents_on_one_model(
    tmp_path: Path, changes: Change, label: str
) -> None:
    run(tmp_path / "first", 3)
    run(tmp_path / "second", 3, changes)
    found = read(tmp_path)
    assert len(found.agents) == 2
    assert found.agents[1] == f"model-m ({label})"
    assert set(map(frozenset, repeats(found).values())) == {frozenset({0})}
    assert all(row.solved is not None for row in found.rows), "each has its own report"
    assert len(named(found, "told_apart")) == 1


@pytest.mark.parametrize(
    "changes",
    [
        lambda log: config(log).update(environment={"image": f"image-of-{log['instance_id']}"}),
        lambda log: config(log)["agent"].update(output_path=f"out/{log['instance_id']}"),
        lambda log: config(log)["model"].update(outputs=[log["instance_id"]]),
        lambda log: config(log)["agent"].update(task_text=log["instance_id"] * 9),
        lambda log: config(log)["model"]["model_kwargs"].update(api_base="http://there"),
        lambda log: config(log)["model"]["model_kwargs"].update(seed=len(log["messages"])),
    ],
)
def test_what_is_of_a_task_or_a_place_makes_no_other_agent(tmp_path: Path, changes: Change) -> None:
    for folder in ("first", "second"):
        for task in TASKS:
            path = mini_trajectory(tmp_path / folder, task, calls=len(folder))
            here = [lambda log, name=task: log.update(instance_id=name)]
            change(path, *here, changes)
    found = read(tmp_path)
    assert repeats(found) == {"model-m": {0, 1}}
    assert not named(found, "settings_differ")


def test_two_harnesses_on_one_model_are_two_agents(tmp_path: Path) -> None:
    mini_trajectory(tmp_path / "mini", "t1", model="model-s")
    swe_agent_trajectory(tmp_path / "swe", "t1")
    found = read(tmp_path)
    assert set(found.agents) == {"model-s (mini-swe-agent 2.0.0)", "model-s (SWE-agent)"}


def test_an_instance_s_name_in_a_config_of_swe_agent_is_no_setting(tmp_path: Path) -> None:
    for task in TASKS:
        path = swe_agent_trajectory(tmp_path, task)
        settings = {"name": task, "model": {"name": "model-s"}, "tools": {"bundles": ["/a/b/x"]}}
        change(path, lambda log, held=settings: log.update(replay_config={"agent": held}))
    found = read(tmp_path)
    assert found.agents == ("model-s",)
    assert not named(found, "settings_differ")


def test_a_model_alone_stays_its_name(tmp_path: Path) -> None:
    run(tmp_path / "some" / "folder")
    assert read(tmp_path).agents == ("model-m",)


def test_shards_of_one_run_are_one_agent_without_repeats(tmp_path: Path) -> None:
    run(tmp_path / "a", tasks=("t1", "t2"))
    run(tmp_path / "b", tasks=("t3", "t4"))
    found = read(tmp_path)
    assert repeats(found) == {"model-m": {0}}
    assert not named(found, "repeats_by_run")


def test_logs_that_state_no_settings_are_no_repeats(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "content": "y"}]
    for place in ("x/run", "y/run"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "t1.traj.json").write_text(
            json.dumps([*messages, *messages[: place == "y/run"]])
        )
    found = read(tmp_path)
    assert found.agents == ("run (x/run)", "run (y/run)")
    assert "state no settings" in named(found, "told_apart")[0]


def test_several_settings_in_one_run_are_named(tmp_path: Path) -> None:
    run(tmp_path / "run", tasks=("t1", "t2"))
    run(tmp_path / "run", 3, lambda log: config(log)["agent"].update(step_limit=50), tasks=("t3",))
    run(tmp_path / "run", 3, lambda log: config(log)["agent"].update(prompt="other"), tasks=("t4",))
    found = read(tmp_path)
    assert found.agents == ("model-m",)
    assert named(found, "limits_differ") == ("model-m: calls: 50 in 1 logs, not stated in 3",)
    (told,) = named(found, "settings_differ")
    assert "agent.prompt (not in all logs)" in told


def test_names_are_those_that_the_option_asks_for(tmp_path: Path) -> None:
    run(tmp_path / "first", 3)
    run(tmp_path / "second", 4, lambda log: config(log)["agent"].update(step_limit=50))
    by_name = gather("auto", [tmp_path], jobs=1, agents_by="name")
    assert repeats(by_name) == {"model-m": {0, 1}}
    assert named(by_name, "limits_differ") == ("model-m: calls: 50 in 3 logs, not stated in 3",)
    by_run = gather("auto", [tmp_path], jobs=1, agents_by="run")
    assert by_run.agents == ("model-m (first)", "model-m (second)")
    assert not named(by_run, "limits_differ")


def test_by_run_tells_the_files_of_every_format(tmp_path: Path) -> None:
    for folder, solved in (("x", "true"), ("y", "false")):
        plain_csv(tmp_path / folder, f"agent,task,solved,calls\na,t1,{solved},1\n")
    found = read(tmp_path)
    assert repeats(found) == {"a": {0, 1}}
    assert "2 runs that have its name" in named(found, "repeats_by_run")[0]
    found = gather("auto", [tmp_path], jobs=1, agents_by="run")
    assert found.agents == ("a (x/runs.csv)", "a (y/runs.csv)")


def test_the_command_and_a_config_ask_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(Path("logs/first"), 3)
    run(Path("logs/second"), 4)
    words = ["import", "auto", "logs", "--out", "a.parquet", "--agents-by", "run"]
    assert main(words) == 0
    held = {"format": "auto", "paths": ["logs"], "agents_by": "run"}
    Path("import.yaml").write_text(json.dumps({"experiment": {"name": "m"}, "source": held}))
    plan = load_import_plan("import.yaml")
    import_logs(plan, plan.folder, jobs=1)
    agents = [
        set(read_table(path)["agent"].to_pylist())
        for path in (Path("a.parquet"), plan.folder / "cells.parquet")
    ]
    assert agents[0] == agents[1] == {"model-m (first)", "model-m (second)"}


def test_exercises_of_two_settings_of_aider_are_two_agents(tmp_path: Path) -> None:
    for folder, commit in (("one", "abc"), ("two", "def")):
        aider_exercise(tmp_path / folder, "bowling", [True], commit_hash=commit, testdir=folder)
    assert read(tmp_path).agents == ("model-a diff (aider abc)", "model-a diff (aider def)")


def test_exercises_of_one_setting_of_aider_are_repeats(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        aider_exercise(tmp_path / folder, "bowling", [True], testdir=folder)
    found = read(tmp_path)
    assert repeats(found) == {"model-a diff": {0, 1}}
    assert named(found, "repeats_by_run")


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=2, unique_by=tuple)
)
def test_ends_of_paths_tell_them_and_are_no_longer_than_needed(parts: list[list[str]]) -> None:
    places = ["/".join(part) for part in parts]
    found = tails(places)
    assert len(set(found)) == len(places)
    assert all(place.endswith(end) for place, end in zip(places, found, strict=True))
    longest = max(end.count("/") for end in found)
    if longest:
        shorter = ["/".join(part[-longest:]) for part in parts]
        assert len(set(shorter)) < len(places)
