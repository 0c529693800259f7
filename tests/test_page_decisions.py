"""The decision table: each question is answered from the data, or says why it cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import read_json
from frozenbench.pages.blocks import Table, cell_text
from frozenbench.pages.decisions import QUESTIONS, decisions
from frozenbench.pages.inputs import PageInputs
from frozenbench.table import RESPONSES_KEY, metadata_of, read_table
from small_experiment_files import Files, files_of


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> PageInputs:
    return read(files_of(tmp_path_factory.mktemp("decisions")))


def read(files: Files) -> PageInputs:
    measured = read_table(files.experiment / "measured.parquet")
    return PageInputs(
        controls=files.rows.controls,
        view=files.plan.view,
        responses=metadata_of(measured, RESPONSES_KEY),
        cells=read_table(files.experiment / "cells.parquet").to_pylist(),
        measured=measured.to_pylist(),
        statistics=read_json(files.statistics / "statistics.json"),
        **{
            name: read_table(files.statistics / f"{name}.parquet").to_pylist()
            for name in ("summary", "contrasts", "flips")
        },
    )


def answers(inputs: PageInputs) -> dict[str, tuple[str, str, str]]:
    """Return question -> budget, metric, answer."""
    block = next(iter(decisions(inputs)))
    assert isinstance(block, Table)
    names = {text: name for name, text in QUESTIONS.items()}
    found = {}
    for question, *rest in block.rows:
        text = str(question).replace("**", "").removesuffix(" (asked here)")
        budget, metric, answer = (cell_text(cell, "\n") for cell in rest)
        found[names[text]] = (budget, metric, answer)
    return found


def test_every_question_has_a_row_and_the_one_asked_stands_on_top(inputs: PageInputs) -> None:
    assert set(answers(inputs)) == set(QUESTIONS)
    for asked in QUESTIONS:
        block = next(iter(decisions(replace(inputs, view={**inputs.view, "question": asked}))))
        assert isinstance(block, Table)
        assert block.rows[0][0] == f"**{QUESTIONS[asked]}** (asked here)"
        assert sum("asked here" in str(row[0]) for row in block.rows) == 1


def test_what_no_test_resolves_is_not_answered(inputs: PageInputs) -> None:
    budget, metric, answer = answers(inputs)["a_vs_b"]
    assert budget == "each of `calls-1` to `calls-4`: the order may change"
    assert "exact paired test" in metric
    assert answer.startswith(
        "Cannot be answered: the pair is not resolved under any budget; n = 2 "
    )
    assert answer.endswith("This pack cannot confirm a flip.")


def changed(inputs: PageInputs, **budgets: float) -> PageInputs:
    """Reject the contrast under each budget named (calls_1=…) with that difference."""
    deltas = {name.replace("_", "-"): delta for name, delta in budgets.items()}
    rows = [
        {**row, "rejected": True, "delta": deltas[row["budget"]]}
        if row["budget"] in deltas
        else {**row, "rejected": False}
        for row in inputs.contrasts
    ]
    return replace(inputs, contrasts=rows)


def test_a_resolved_pair_is_told_with_its_budgets(inputs: PageInputs) -> None:
    answer = answers(changed(inputs, calls_4=-0.5))["a_vs_b"][2]
    assert answer.splitlines() == [
        "Resolved under some budget: 1 of 1 pair, 0 by a confirmed flip; n = 2 tasks.",
        "two before one under `calls-4`.",
    ]


def test_a_confirmed_flip_is_told_as_a_matter_of_the_budget(inputs: PageInputs) -> None:
    flip: dict[str, Any] = {
        "slice": "public",
        "ladder": "max_seconds=60, max_tokens=500",
        "kind": "confirmed",
        "agent_a": "one",
        "agent_b": "two",
        "old_leader": "two",
        "new_leader": "one",
        "lead": True,
        "confirmed_from": "calls-1",
        "confirmed_to": "calls-4",
    }
    found = replace(changed(inputs, calls_1=-0.5, calls_4=0.5), flips=[flip])
    answer = answers(found)["a_vs_b"][2]
    assert "**It depends on the budget**: two under `calls-1`, one under `calls-4`" in answer
    unsure = replace(found, flips=[{**flip, "kind": "suggestive"}])
    assert "depends" not in answers(unsure)["a_vs_b"][2]


def test_one_agent_is_compared_with_nobody(inputs: PageInputs) -> None:
    answer = answers(replace(inputs, contrasts=[]))["a_vs_b"][2]
    assert answer == "Cannot be answered: there is one agent."


def test_solving_at_all_is_asked_under_the_largest_budget(inputs: PageInputs) -> None:
    budget, _, answer = answers(inputs)["solves_at_all"]
    assert budget == "`calls-4`, the largest"
    first, one, two = answer.splitlines()
    assert first == "With 95 % intervals; n = 2 tasks:"
    assert one.startswith("one 100.0 % [")
    assert two.startswith("two 66.7 % [")


def test_that_nobody_solves_anything_is_an_answer_with_a_bound(inputs: PageInputs) -> None:
    rows = [
        {**row, "weighted_pass_rate": 0.0, "weighted_high": 0.4, "exhaust_rate": 0.5}
        for row in inputs.summary
    ]
    answer = answers(replace(inputs, summary=rows))["solves_at_all"][2]
    assert answer.splitlines() == [
        "No agent passes a task; n = 2 tasks, and up to 40 % fit these data (95 %).",
        "EXHAUSTED: at most 50.0 %, of one; with more budget a rate can be higher.",
    ]


def test_inventions_are_looked_for_where_agents_stop_by_themselves(inputs: PageInputs) -> None:
    budget, _, answer = answers(inputs)["invents_apis"]
    assert budget.startswith("`calls-4`"), "under calls-1 a cap ends every cell of one"
    assert answer.splitlines() == [
        "two 50.0 %: 1 of 2 cells, 1 with an invented name",
        "one 0.0 %: 0 of 2 cells",
    ]
    capped = [{**row, "exhaust_rate": 0.5} for row in inputs.summary]
    answer = answers(replace(inputs, summary=capped))["invents_apis"][2]
    assert answer.startswith("Cannot be answered for one and two: half of the cells or more are ")
    assert "%" not in answer, "no rate stands beside what cannot be answered"


def test_what_a_log_does_not_tell_cannot_be_answered(inputs: PageInputs) -> None:
    rows = [{**row, "assume_rate": None} for row in inputs.summary]
    logs = replace(inputs, summary=rows, controls={**inputs.controls, "source": {}})
    found = answers(logs)
    assert found["invents_apis"][2].startswith("Cannot be answered: a log does not tell")
    assert found["overnight"][2] == "Cannot be answered: no cap held these runs."
    assert found["solves_at_all"][2].endswith("Lower bounds: no budget was enforced.")


def test_a_night_is_told_with_what_it_costs_or_that_nobody_knows(inputs: PageInputs) -> None:
    assert answers(inputs)["overnight"][2].splitlines() == [
        "`weighted_pass_rate`, and the tokens of all cells for each PASS; n = 2 tasks:",
        "one 100.0 %, 100 tokens",
        "two 66.7 %, 200 tokens",
    ]
    rows = [{**row, "tokens_missing": 1} for row in inputs.summary]
    assert "tokens not known" in answers(replace(inputs, summary=rows))["overnight"][2]
    lost = [{**row, "outcome": "ERROR"} for row in inputs.cells]
    told = answers(replace(inputs, cells=lost))["overnight"][2]
    assert "no PASS to share its tokens among" in told


def test_many_agents_are_counted_and_not_all_named(inputs: PageInputs) -> None:
    names = [f"agent-{place}" for place in range(25)]
    rows = [
        {**row, "agent": name} for name in names for row in inputs.summary if row["agent"] == "one"
    ]
    many = replace(inputs, summary=rows, view={**inputs.view, "agents": names})
    answer = answers(many)["solves_at_all"][2]
    assert "\n19 more: see *Scores*." in answer
    assert answer.count("agent-") == 6


def test_slices_are_not_pooled(tmp_path: Path) -> None:
    files = files_of(tmp_path, lambda study, _: study.lines[1].update(split="held_out"))
    _, ladder, slices = decisions(read(files))
    assert ladder.text.startswith(  # type: ignore[union-attr]
        "Answers are of the longest ladder, `calls-1` to `calls-4`; not of `free`."
    )
    assert "slices are never pooled" in slices.text  # type: ignore[union-attr]
