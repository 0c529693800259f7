"""Who an agent is does not hang on the folder that is open, nor on how the logs are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from frozenbench.importers.gather import Imported, gather
from log_files import (
    aider_exercise,
    detail,
    harbor_trial,
    lm_eval_samples,
    mini_trajectory,
    put,
    swe_agent_trajectory,
    terminal_bench_run,
    trial,
)
from mutated_logs import WRITERS
from reading import named

MESSAGES = [{"role": "assistant", "content": "x"}]
SHORT = {"instance_id": "t1", "attempt": 1, "max_attempts": 1, "status": "success", "cost": {}}
EVENTS = [{"id": 0, "source": "agent", "action": "run"}]


def _swe_agent(run: Path) -> None:
    for task in ("t1", "t2"):
        swe_agent_trajectory(run / task, task, status=None)


def _submission(run: Path) -> None:
    for task in ("t1", "t2"):
        swe_agent_trajectory(run / "trajs", task, status=None)


def _bare(run: Path) -> None:
    for task in ("t1", "t2"):
        put(run / task / f"{task}.traj.json", MESSAGES)


def _without_agent(run: Path) -> None:
    terminal_bench_run(run, [trial("t1")], 1.0)
    put(run / "run_metadata.json", {"run_id": "r", "dataset_name": "d"})


def _published(run: Path) -> None:
    _without_agent(run / "results" / "pack" / "agent-s" / "run-1")


def _aider(run: Path) -> None:
    for task in ("t1", "t2"):
        exercise = run / "python" / "exercises" / "practice"
        aider_exercise(exercise, task, [True], model=None, edit_format="")


#: What writes logs that name no agent -> the agent, told by folders.
RUNS: list[tuple[Callable[[Path], object], str]] = [
    (_swe_agent, "run-a"),
    (_submission, "run-a"),
    (_bare, "run-a"),
    (_without_agent, "run-a"),
    (_published, "agent-s"),
    (_aider, "run-a"),
    (lambda run: put(run / "trials.jsonl", [trial("t1")]), "run-a"),
    (lambda run: lm_eval_samples(run, [{"doc_id": 0, "doc": {}, "acc": 1}]), "run-a"),
    (WRITERS["lm_eval_results"], ""),
    (lambda run: put(run / "per_instance_details.json", {"t1": detail(True, 1, 0.1)}), "run-a"),
    (lambda run: put(run / "output.jsonl", [SHORT]), "run-a"),
    (lambda run: put(run / "events.json", EVENTS), "run-a"),
    (lambda run: harbor_trial(run, "t1"), "arm model-h"),
]


def _told(imported: Imported) -> object:
    rows = [(row.agent, row.task, row.solved, row.use) for row in imported.rows]
    kinds = [(notice.kind, notice.count) for notice in imported.notices]
    return rows, kinds, imported.stated


def _ways(run: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Imported]:
    """Import one run in every way that it can be asked for."""
    found = {}
    deepest = max((path for path in run.rglob("*") if path.is_dir()), default=run, key=str)
    for open_folder in (run.parent, run, deepest):
        monkeypatch.chdir(open_folder)
        back = Path(os.path.relpath(run, open_folder))
        files = sorted(path for path in back.rglob("*") if path.is_file())
        for name, paths in (("folder", [back]), ("files", files), ("whole", [run])):
            found[f"{open_folder.name} {name}"] = gather("auto", paths, jobs=1)
    return found


@pytest.mark.parametrize(("write", "agent"), RUNS)
def test_an_agent_is_the_same_from_wherever_its_logs_are_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path], object],
    agent: str,
) -> None:
    run = tmp_path / "run-a"
    write(run)
    found = _ways(run, monkeypatch)
    if agent:
        assert found["run-a folder"].agents == (agent,)
    first = _told(next(iter(found.values())))
    for way, imported in found.items():
        assert _told(imported) == first, way
        assert str(tmp_path) not in repr(imported), way


@pytest.mark.parametrize("by", ["log", "run"])
def test_runs_of_one_model_are_told_by_their_folders_even_by_the_one_that_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    mini_trajectory(tmp_path / "run-a", "t1", limits={"step_limit": 5})
    mini_trajectory(tmp_path / "run-a" / "run-b", "t1", limits={"step_limit": 5}, calls=4)
    monkeypatch.chdir(tmp_path / "run-a")
    found = gather("auto", ["."], jobs=1, agents_by=by)
    if by == "run":
        assert set(found.agents) == {"model-m (run-a)", "model-m (run-b)"}
    else:
        (told,) = named(found, "repeats_by_run")
        assert "(run-b, ./run-a)" in told


def test_the_open_folder_and_one_of_its_name_in_it_are_two_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mini_trajectory(tmp_path / "run-a", "t1")
    mini_trajectory(tmp_path / "run-a" / "run-a", "t1", calls=4)
    monkeypatch.chdir(tmp_path / "run-a")
    found = gather("auto", ["."], jobs=1, agents_by="run")
    assert len(found.agents) == 2


def test_published_rates_are_held_against_the_rows_of_the_open_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRITERS["lm_eval_results"](tmp_path)
    sample = {"doc": {}, "filter": "none", "acc": 1.0}
    lm_eval_samples(tmp_path, [{**sample, "doc_id": number} for number in (0, 1)])
    monkeypatch.chdir(tmp_path)
    assert named(gather("auto", ["."], jobs=1), "contradiction")


def test_details_are_verdicts_on_logs_that_are_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = swe_agent_trajectory(tmp_path / "run-a", "t1")
    put(path.with_name("per_instance_details.json"), {"t1": detail(True, 4, 0.25)})
    monkeypatch.chdir(path.parent)
    found = gather("auto", ["t1.traj", "per_instance_details.json"], jobs=1)
    assert [(row.agent, row.solved) for row in found.rows] == [("model-s", True)]
