"""An experiment that reaches its `max_spend`: no score, open cells alone run again, and it replays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from local_endpoint import MODEL, Endpoint
from project import Project
from small_experiment import write


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.server.stop()


def ask(project: Project, endpoint: Endpoint, most: object) -> None:
    """Let a priced agent take part; one of its six responses costs 0.04 USD."""
    where = {"id": "small", "wire": "openai-chat", "model": MODEL, "base_url": endpoint.root}
    sheet = {
        "adapter": "chat",
        "policy": "resample",
        "endpoint": {**where, "max_concurrency": 1},
        "temperature": 0.8,
        "seed": 3,
        "max_output_tokens": 100,
        "prices": {"currency": "USD", "input_per_million": 1000, "output_per_million": 2000},
    }
    write(project / "config/agents/asking.yaml", yaml.safe_dump(sheet))
    limit = {} if most is None else {"max_spend": most}
    project.change_config(lambda config: config.update(agents=["asking", "steady"], **limit))


def paid(project: Project) -> list[str]:
    """Return the keys of all bought responses."""
    (ledger,) = (project / "results/experiments").glob("*/spend.jsonl")
    return [json.loads(line)["key"] for line in ledger.read_text().splitlines()]


def test_reached_raised_and_replayed(prepared: Project, tmp_path: Path, endpoint: Endpoint) -> None:
    undisturbed = prepared.copy(tmp_path / "undisturbed")
    ask(undisturbed, endpoint, None)
    undisturbed.succeeds()
    assert len(paid(undisturbed)) == len(set(paid(undisturbed))) == 6

    project = prepared.copy(tmp_path / "project")
    ask(project, endpoint, 0.1)
    plan = project.frozenbench("plan").out
    assert "asking: 4 runs, at most 6 requests, 2,000 tokens, 220 s on its clock, 4.00 USD" in plan
    assert "recorded of asking and these tasks: nothing" in plan
    assert "max_spend 0.10 USD: nothing paid so far; at most 0.10 USD more" in plan

    stopped = project.snakemake(env={"FROZENBENCH_LOG": ""})
    assert stopped.status != 0
    assert "Traceback" not in stopped.said
    assert "max_spend: 0.10 USD is reached (0.12 USD paid for 3 responses)" in stopped.said
    assert len(paid(project)) == 3
    shown = project.frozenbench("show")
    assert shown.status == 3
    assert "cells open" in shown.out
    assert "only open cells run" in shown.out
    assert sorted(project.published()) == ["README.md", "controls.json", "refusals.json"]
    assert "max_spend" in project.published()["README.md"].decode()
    assert project.frozenbench("verify").status == 0
    assert "nothing to do" in project.frozenbench("retry").out, "no cell of it is an ERROR"
    done = {path.parent.name for path in (project / "results/runs").glob("*/run.json")}

    digest = [line for line in plan.splitlines() if line.startswith("experiment")]
    ask(project, endpoint, {"amount": 5, "currency": "USD"})
    after = project.frozenbench("plan").out
    assert [line for line in after.splitlines() if line.startswith("experiment")] == digest
    assert "max_spend 5.00 USD: 0.12 USD paid for 3 responses so far; at most 4.88 USD" in after
    ran = project.succeeds()
    assert ran.runs
    assert all(run.startswith("asking") for run in ran.runs)
    runs = {path.parent.name for path in (project / "results/runs").glob("*/run.json")}
    assert len(ran.runs) == len(runs - done)
    assert sorted(paid(project)) == sorted(paid(undisturbed)), "no response was bought twice"
    assert project.cells() == undisturbed.cells()

    endpoint.server.stop()
    replayed = project.frozenbench("replay")
    assert (replayed.status, replayed.out) == (
        0,
        "replay: 16 of 16 cells equal, 0 differ, 0 not replayed; 6 recorded responses, nothing "
        "asked\n",
    )


@pytest.mark.parametrize(
    ("most", "prices", "told"),
    [
        (1, None, "max_spend: is 1, and agent 'asking' has no prices"),
        ({"amount": 1, "currency": "EUR"}, "USD", "EUR (max_spend itself) and USD (asking)"),
        (0, "USD", "max_spend: is 0; cure: a value above 0"),
        ({"currency": "USD"}, "USD", "amount"),
        ({"amount": 1, "limit": 2}, "USD", "limit"),
    ],
)
def test_what_could_not_be_held_is_refused(
    prepared: Project,
    tmp_path: Path,
    endpoint: Endpoint,
    most: object,
    prices: str | None,
    told: str,
) -> None:
    project = prepared.copy(tmp_path / "project")
    ask(project, endpoint, most)
    if prices is None:
        path = project / "config/agents/asking.yaml"
        sheet = yaml.safe_load(path.read_text())
        del sheet["prices"]
        path.write_text(yaml.safe_dump(sheet))
    ran = project.frozenbench("plan")
    assert ran.status == 2
    assert told in ran.err
