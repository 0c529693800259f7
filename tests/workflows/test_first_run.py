"""One whole run, and that a second one does nothing."""

from __future__ import annotations

from project import EXPERIMENT, Project, cells_of
from small_experiment import AGENTS, OUTCOMES


def test_a_fresh_clone_lists_every_job(fresh: Project) -> None:
    due = fresh.due()
    assert due.runs == due.grades == cells_of()
    frozen = {"freeze_task": 2, "freeze_grader": 2, "freeze_expected": 2, "freeze_agent": 2}
    assert due.others == EXPERIMENT | frozen | {"freeze_record": 1}


def test_the_outcomes_are_those_that_the_agents_were_made_for(base: Project) -> None:
    outcomes = base.outcomes()
    assert {cell: outcomes[cell] for cell in OUTCOMES} == OUTCOMES
    controls = {cell: end for cell, end in outcomes.items() if cell[0] not in AGENTS}
    ends = {"noop": ("EXHAUSTED", "tool_calls"), "reference": ("PASS", "finished")}
    assert controls == {cell: ends[cell[0]] for cell in controls}
    assert len(controls) == 8


def test_a_second_run_does_nothing(project: Project) -> None:
    before = project.published()
    again = project.succeeds()
    assert again.rules == {}
    assert "Nothing to be done" in again.said
    assert project.published() == before
