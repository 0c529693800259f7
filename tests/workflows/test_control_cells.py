"""noop and reference: as they must be on real packs, and what a lying pack brings."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from project import Project, Ran, cells_of
from small_experiment import AGENTS, ROOT, SOURCES, TASKS, write, write_lines, write_workflow

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


def green_start(project: Project, task: str) -> None:
    file, _, solution, _ = SOURCES[task]
    write(project / f"packs/small/fixtures/{task}" / file, solution)


def wrong_reference(project: Project, task: str) -> None:
    file, start, _, _ = SOURCES[task]
    write(project / f"packs/small/solutions/{task}" / file, start)


def failing_test(project: Project, task: str) -> None:
    path = project / f"packs/small/graders/{task}/test_{task}.py"
    write(path, path.read_text() + "\n\ndef test_never():\n    assert 2 == 3\n")


def unreadable_test(project: Project, task: str) -> None:
    write(project / f"packs/small/graders/{task}/test_{task}.py", "def test_one(:\n")


def no_test(project: Project, task: str) -> None:
    write(project / f"packs/small/graders/{task}/test_{task}.py", "")


Break = Callable[[Project, str], None]
NOOP = "noop must be EXHAUSTED everywhere"
REFERENCE = "reference must be PASS everywhere"


@pytest.mark.parametrize(
    ("with_double", "with_greet", "refusals"),
    [
        (green_start, None, [NOOP]),
        (wrong_reference, failing_test, [REFERENCE]),
        (unreadable_test, no_test, [REFERENCE]),
    ],
    ids=["green start", "wrong reference and failing test", "unreadable test and none"],
)
def test_a_lying_pack_gets_no_score(
    project: Project, with_double: Break, with_greet: Break | None, refusals: list[str]
) -> None:
    """No score, no figure, a message with the cure; and after mending it, all as it was."""
    before = project.published()
    shutil.copytree(project / "packs", project / "saved")
    with_double(project, "double")
    if with_greet is not None:
        with_greet(project, "greet")
    ran = project.snakemake()
    is_refused(project, ran, refusals)
    bad = {
        (agent, task)
        for (agent, task, _), (outcome, _) in project.outcomes().items()
        if outcome != {"noop": "EXHAUSTED", "reference": "PASS"}.get(agent, outcome)
    }
    lying = "noop" if with_greet is None else "reference"
    assert {(lying, task) for task in TASKS if task == "double" or with_greet} <= bad
    again = project.snakemake()
    assert again.rules == {"check_score": 1}
    is_refused(project, again, refusals)

    shutil.rmtree(project / "packs")
    (project / "saved").rename(project / "packs")
    mended = project.succeeds()
    assert SCORE.search(mended.out)
    assert project.published() == before


def is_refused(project: Project, ran: Ran, refusals: list[str]) -> None:
    """Assert that nothing but a refusal is shown, which names the control and the cure."""
    assert ran.status != 0
    assert not SCORE.search(ran.said)
    assert "Traceback" not in ran.said
    shown = project.published()
    assert not [name for name in shown if name.startswith("figures/")]
    assert "score_bundle.json" not in shown
    page = shown["README.md"].decode()
    assert not SCORE.search(page)
    show = project.frozenbench("show")
    assert show.status == 3
    assert not SCORE.search(show.out)
    for said in (ran.said, page, show.out):
        assert [line for line in refusals if line not in said] == []
        assert "mend the pack" in said
        assert "double" in said


@pytest.fixture(scope="module")
def variant(base: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """Two repeats of a pack whose task `greet` is held out and has no reference solution."""
    project = base.copy(tmp_path_factory.mktemp("variant") / "project")
    shutil.rmtree(project / "packs/small/solutions/greet")
    write_lines(project.folder, *TASKS, greet={"split": "held_out"})
    project.change_config(lambda config: config.update(repeats=2))
    ran = project.succeeds()
    assert ran.runs == cells_of(AGENTS, repeats=[1])
    return project, ran.out


def test_a_task_without_a_reference_is_named_above_the_score(variant: tuple[Project, str]) -> None:
    project, said = variant
    references = {row["task"] for row in project.rows() if row["agent"] == "reference"}
    assert references == {"double"}
    # It is held out: the page names it by its digest alone.
    named = "unqualified (no reference solution): "
    page = project.published()["README.md"].decode()
    assert page.index(named) < page.index("## Scores")
    told = page.partition(named)[2].split()[0]
    [greet] = {row["task_digest"] for row in project.rows() if row["task"] == "greet"}
    assert greet.startswith(told)
    assert len(told) == 12
    assert said.index(named) < said.index("weighted=")


def test_held_out_tasks_are_a_slice_of_their_own(variant: tuple[Project, str]) -> None:
    """Numbers are per slice, never pooled."""
    project, said = variant
    summary = project.rows("tables/summary")
    slices = {(row["slice"], row["agent"], row["budget"]): row for row in summary}
    assert {key[0] for key in slices} == {"public", "held_out"}
    assert slices["public", "steady", "calls-1"]["pass_rate"] == 1.0
    assert slices["held_out", "steady", "calls-1"]["pass_rate"] == 0.0
    assert "held_out" in said


def test_two_repeats(variant: tuple[Project, str]) -> None:
    """Controls have repeat 0 alone; every metric's n is tasks × repeats."""
    project, _ = variant
    rows = project.rows()
    assert {row["repeat"] for row in rows if row["control"]} == {0}
    assert {row["repeat"] for row in rows if not row["control"]} == {0, 1}
    assert {row["n"] for row in project.rows("tables/summary")} == {2}
