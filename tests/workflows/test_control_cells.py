"""noop and reference: as they must be on real packs, and what a lying pack brings."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from project import Project
from small_experiment import ROOT, SOURCES, TASKS, write, write_lines, write_workflow

#: What a score looks like in any output.
SCORE = re.compile(r"\b(weighted|pass)=")
POLICIES = ("final", "every_step")


def control_outcomes(project: Project, name: str) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for row in project.rows(name=name):
        if row["control"]:
            found.setdefault(row["agent"], set()).add((row["outcome"], row["reason"]))
    return found


@pytest.mark.parametrize(
    ("pack", "agent"),
    [("starter", "write_once"), pytest.param("functions", "write_once", marks=pytest.mark.soak)],
)
def test_the_controls_of_a_shipped_pack(
    prepared: Project, tmp_path: Path, pack: str, agent: str
) -> None:
    """noop is EXHAUSTED and reference PASSes on every task, under both policies."""
    project = Project(tmp_path / "project")
    write_workflow(project.folder)
    shutil.copytree(ROOT / "packs" / pack, project / "packs" / pack)
    shutil.copytree(ROOT / "config/agents", project / "config/agents")
    shutil.copytree(prepared / "results", project / "results", symlinks=True)
    budget = {"name": "calls-1", "max_tool_calls": 1, "max_tokens": 8000, "max_seconds": 240}
    tasks = [json.loads(line) for line in (ROOT / "packs" / pack / "pack.jsonl").open()]
    for policy in POLICIES:
        config = {
            "experiment": {"name": policy},
            "pack": {"path": f"packs/{pack}"},
            "agents": [agent],
            "budgets": [budget],
            "budget_axis": "max_tool_calls",
            "grading": policy,
            "statistics": {"resamples": 100},
        }
        write(project / "config/config.yaml", yaml.safe_dump(config))
        ran = project.succeeds()
        assert SCORE.search(ran.out)
        assert ran.runs == [] or policy == POLICIES[0]
        assert control_outcomes(project, policy) == {
            "noop": {("EXHAUSTED", "tool_calls")},
            "reference": {("PASS", "finished")},
        }
        assert sum(row["control"] for row in project.rows(name=policy)) == 2 * len(tasks)


def test_the_controls_under_every_step(project: Project) -> None:
    project.change_config(lambda config: config.update(grading="every_step"))
    ran = project.succeeds()
    assert ran.runs == []
    assert control_outcomes(project, "small") == {
        "noop": {("EXHAUSTED", "tool_calls")},
        "reference": {("PASS", "finished")},
    }
    outcomes = project.outcomes()
    assert outcomes["stubborn", "double", "calls-3"] == ("PASS", "finished")
    assert outcomes["stubborn", "double", "calls-1"] == ("EXHAUSTED", "tool_calls")


Break = Callable[[Project], None]
TEST = "packs/small/graders/double/test_double.py"


def green_start(project: Project) -> None:
    file, _, solution, _ = SOURCES["double"]
    write(project / "packs/small/fixtures/double" / file, solution)


def failing_test(project: Project) -> None:
    text = (project / TEST).read_text()
    write(project / TEST, text + "\n\ndef test_never():\n    assert double(2) == 5\n")


def test_that_is_no_python(project: Project) -> None:
    write(project / TEST, "def test_one(:\n")


def no_test(project: Project) -> None:
    write(project / TEST, "from number import double\n")


def wrong_reference(project: Project) -> None:
    file, start, _, _ = SOURCES["double"]
    write(project / "packs/small/solutions/double" / file, start)


FAULTS = {
    green_start: ("noop", "EXHAUSTED"),
    failing_test: ("reference", "PASS"),
    test_that_is_no_python: ("reference", "PASS"),
    no_test: ("reference", "PASS"),
    wrong_reference: ("reference", "PASS"),
}
test_that_is_no_python.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_lying_pack_gets_no_score(project: Project, fault: Break) -> None:
    """No score, no figure, a message with the cure; and after mending it, all as it was."""
    before = project.published()
    saved = project / "saved"
    shutil.copytree(project / "packs", saved)
    fault(project)
    ran = project.snakemake()
    control, due = FAULTS[fault]
    refused_as(project, ran.status, ran.said, control, due)
    assert "double" in ran.said
    again = project.snakemake()
    assert (again.status != 0, again.rules) == (True, {"check_score": 1})
    refused_as(project, again.status, again.said, control, due)

    shutil.rmtree(project / "packs")
    saved.rename(project / "packs")
    mended = project.succeeds()
    assert SCORE.search(mended.out)
    assert project.published() == before


def refused_as(project: Project, status: int, said: str, control: str, due: str) -> None:
    """Assert that nothing but a refusal is shown, which names the control and the cure."""
    assert status != 0
    assert not SCORE.search(said)
    assert "Traceback" not in said
    assert f"{control} must be {due} everywhere" in said
    assert "cure: mend the pack" in said
    shown = project.published()
    assert not [name for name in shown if name.startswith("figures/")]
    assert "score_bundle.json" not in shown
    page = shown["README.md"].decode()
    assert not SCORE.search(page)
    assert f"{control} must be {due} everywhere" in page
    show = project.frozenbench("show")
    assert show.status == 3
    assert f"{control} must be {due} everywhere" in show.out
    assert not SCORE.search(show.out)


def test_a_task_without_a_reference_is_named_above_the_score(project: Project) -> None:
    shutil.rmtree(project / "packs/small/solutions/greet")
    ran = project.succeeds()
    assert ran.runs == []
    assert not [
        row for row in project.rows() if (row["agent"], row["task"]) == ("reference", "greet")
    ]
    named = "unqualified (no reference solution): greet"
    page = project.published()["README.md"].decode()
    assert page.index(named) < page.index("## Scores")
    assert ran.out.index(named) < ran.out.index("weighted=")


def test_held_out_tasks_are_a_slice_of_their_own(project: Project) -> None:
    """Numbers are per slice, never pooled."""
    write_lines(project.folder, *TASKS, greet={"split": "held_out"})
    ran = project.succeeds()
    assert (ran.runs, ran.grades) == ([], [])
    summary = project.rows("tables/summary")
    slices = {(row["slice"], row["agent"], row["budget"]): row for row in summary}
    assert {key[0] for key in slices} == {"public", "held_out"}
    assert {row["n"] for row in summary} == {1}
    assert slices["public", "steady", "calls-1"]["pass_rate"] == 1.0
    assert slices["held_out", "steady", "calls-1"]["pass_rate"] == 0.0
    assert "held_out" in ran.out


def test_two_repeats(project: Project) -> None:
    """Controls have repeat 0 alone; every metric's n is tasks × repeats."""
    project.change_config(lambda config: config.update(repeats=2))
    project.succeeds()
    rows = project.rows()
    assert {row["repeat"] for row in rows if row["control"]} == {0}
    assert {row["repeat"] for row in rows if not row["control"]} == {0, 1}
    assert {row["n"] for row in project.rows("tables/summary")} == {4}
