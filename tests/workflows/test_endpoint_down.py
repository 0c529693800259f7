"""An endpoint that goes down in the middle: no score, then retry, then the right table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from local_endpoint import MODEL, Endpoint
from project import EXPERIMENT, Project, Ran
from small_experiment import TASKS, write, write_lines

SCORE = re.compile(r"\b(weighted|pass)=")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.server.stop()


def ask(project: Project, endpoint: Endpoint) -> None:
    """Let an agent take part that asks the endpoint with a new seed each time, without end."""
    sheet = {
        "adapter": "chat",
        "policy": "resample",
        "endpoint": {
            "id": "small",
            "wire": "openai-chat",
            "model": MODEL,
            "base_url": endpoint.root,
        },
        "temperature": 0.8,
        "seed": 3,
        "max_output_tokens": 100,
    }
    write(project / "config/agents/asking.yaml", yaml.safe_dump(sheet))
    project.change_config(lambda config: config.update(agents=["asking", "steady"]))


def change_weight(project: Project, weight: int) -> None:
    write_lines(project.folder, *TASKS, greet={"weight": weight})


def test_down_in_the_middle(prepared: Project, tmp_path: Path, endpoint: Endpoint) -> None:
    undisturbed = prepared.copy(tmp_path / "undisturbed")
    ask(undisturbed, endpoint)
    undisturbed.succeeds()
    assert {row["attempts"] for row in undisturbed.rows("measured")} == {1}

    project = prepared.copy(tmp_path / "project")
    ask(project, endpoint)
    endpoint.goes_down_after(2)
    is_refused(project)
    broken = broken_cells(project)
    assert {row["reason"] for row in project.rows() if row["outcome"] == "ERROR"} == {
        "endpoint_down"
    }
    assert 1 <= len(broken) <= 4

    # Another experiment that holds the same cells is refused for the same reason.
    change_weight(project, 7)
    assert is_refused(project).runs == []
    change_weight(project, 3)

    endpoint.comes_back()
    retried = project.frozenbench("retry")
    assert retried.status == 0
    assert set_aside(retried.out) == sorted(broken)
    due = project.due()
    assert due.runs == due.grades == sorted(broken)
    ran = project.succeeds()
    assert SCORE.search(ran.out)
    assert project.cells() == undisturbed.cells()
    attempts = {label(row): row["attempts"] for row in project.rows("measured")}
    assert {cell for cell, count in attempts.items() if count == 2} == set(broken)
    assert set(attempts.values()) == {1, 2}
    assert "nothing to do" in project.frozenbench("retry").out
    assert project.frozenbench("verify").status == 0

    # The other experiment sees the new attempts too: nothing of it is stale.
    change_weight(project, 7)
    other = project.succeeds()
    assert (other.runs, other.grades) == ([], [])
    assert other.others == {k: v for k, v in EXPERIMENT.items() if not k.startswith("freeze")}
    assert broken_cells(project) == []


def is_refused(project: Project) -> Ran:
    """Run it; assert that there is no score and that the cure is named."""
    ran = project.snakemake()
    assert ran.status != 0
    assert not SCORE.search(ran.said)
    assert "Traceback" not in ran.said
    assert "accept_error_share" in ran.said
    assert "frozenbench retry" in ran.said
    shown = project.published()
    assert not [name for name in shown if name.startswith("figures/")]
    assert "frozenbench retry" in shown["README.md"].decode()
    show = project.frozenbench("show")
    assert show.status == 3
    assert "endpoint_down" in show.out
    return ran


def label(row: dict[str, object]) -> str:
    return f"{row['agent']} {row['task']} {row['budget']} repeat {row['repeat']}"


def broken_cells(project: Project) -> list[str]:
    return [label(row) for row in project.rows() if row["outcome"] == "ERROR"]


def set_aside(said: str) -> list[str]:
    return sorted(re.findall(r"^set aside: (.*) \(endpoint_down\)$", said, re.MULTILINE))
