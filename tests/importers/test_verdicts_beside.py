"""Verdicts that stand beside logs and name no agent belong to the logs of their own folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozenbench.importers.gather import gather

TRAJECTORY = {
    "trajectory_format": "mini-swe-agent-1.1",
    "messages": [{"role": "assistant"}],
    "info": {"exit_status": "Submitted", "model_stats": {"api_calls": 1}},
}


def mini_swe_agent(folder: Path, agent: str, solved: bool) -> None:
    (folder / "t1.traj.json").write_text(json.dumps(TRAJECTORY))
    resolved, unresolved = (["t1"], []) if solved else ([], ["t1"])
    report = {"resolved_ids": resolved, "unresolved_ids": unresolved}
    (folder / "report.json").write_text(json.dumps(report))


def openhands(folder: Path, agent: str, solved: bool) -> None:
    line = {"instance_id": "t1", "history": [], "metadata": {"agent_class": agent}, "metrics": {}}
    (folder / "output.jsonl").write_text(json.dumps(line) + "\n")
    verdict = {"instance_id": "t1", "test_result": {"report": {"resolved": solved}}}
    (folder / "output.swebench_eval.jsonl").write_text(json.dumps(verdict) + "\n")


@pytest.mark.parametrize("write", [mini_swe_agent, openhands])
@pytest.mark.parametrize("solver", ["one", "two"])
def test_each_agent_gets_the_verdict_of_its_own_folder(
    tmp_path: Path, write: object, solver: str
) -> None:
    for agent in ("one", "two"):
        (tmp_path / agent).mkdir()
        write(tmp_path / agent, agent, agent == solver)  # type: ignore[operator]
    found = gather("auto", [tmp_path], jobs=1)
    assert {row.agent: row.solved for row in found.rows} == {
        "one": solver == "one",
        "two": solver == "two",
    }
