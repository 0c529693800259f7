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
from small_experiment_files import Change, Files, files_of


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
        "Cannot be answered: the pair is not resolved under any budget of this ladder; n = 2 "
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
        "Resolved under some budget of this ladder: 1 of 1 pair, 0 by a confirmed flip; n = 2 tasks.",
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
    alone = replace(inputs, contrasts=[], view={**inputs.view, "agents": ["one"]})
    budget, _, answer = answers(alone)["a_vs_b"]
    assert answer == "Cannot be answered: there is one agent."
    assert budget == "none", "no order of one agent may change"


def test_solving_at_all_is_asked_under_the_largest_budget(inputs: PageInputs) -> None:
    budget, _, answer = answers(inputs)["solves_at_all"]
    assert budget == "`calls-4`, the largest of this ladder"
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
        "EXHAUSTED: at most 50.0 %, of one and two; with more budget a rate can be higher.",
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


# Ladders: several, none, and what lies on another one


def budgets_of(*held: dict[str, Any]) -> Change:
    return lambda study, rows: study.config.update(budgets=list(held))


def budget(name: str, calls: int | None, tokens: int) -> dict[str, Any]:
    caps = {"max_tokens": tokens, "max_seconds": 60}
    return {"name": name, **caps, **({} if calls is None else {"max_tool_calls": calls})}


def flip_on(ladder: str, start: str, end: str, **changed: Any) -> dict[str, Any]:
    flip = {"slice": "public", "kind": "confirmed", "agent_a": "one", "agent_b": "two"}
    ends = {"confirmed_from": start, "confirmed_to": end}
    return {**flip, "old_leader": "two", "new_leader": "one", "lead": True, "ladder": ladder} | {
        **ends,
        **changed,
    }


@pytest.fixture(scope="module")
def two_ladders(tmp_path_factory: pytest.TempPathFactory) -> PageInputs:
    long = [budget(f"c{calls}", calls, 500) for calls in (1, 2, 4)]
    short = [budget(f"d{calls}", calls, 900) for calls in (1, 8)]
    return read(files_of(tmp_path_factory.mktemp("ladders"), budgets_of(*long, *short)))


def test_what_another_ladder_resolves_is_not_denied(two_ladders: PageInputs) -> None:
    name = "max_seconds=60, max_tokens=900"
    found = changed(two_ladders, d1=-0.5, d8=0.5)
    told = answers(replace(found, flips=[flip_on(name, "d1", "d8")]))["a_vs_b"]
    assert told[0] == "each of `c1` to `c4`: the order may change"
    first, *rest = told[2].splitlines()
    assert first.startswith(
        "Cannot be answered: the pair is not resolved under any budget of this ladder; n = 2 "
    )
    assert rest[-2:] == [
        "Under budgets that are not of this ladder:",
        "**It depends on the budget**: two under `d1`, one under `d8` (confirmed flip).",
    ]
    once = answers(replace(changed(two_ladders, d8=0.5), flips=[]))["a_vs_b"][2]
    assert once.endswith("Under budgets that are not of this ladder:\none before two under `d8`.")


def test_the_clearest_contrast_is_one_of_the_ladder(two_ladders: PageInputs) -> None:
    needed = {"c1": 300, "c2": None, "c4": 228, "d1": 17, "d8": 20}
    rows = [
        {**row, "rejected": False, "n_for_80_power": needed[row["budget"]]}
        for row in two_ladders.contrasts
    ]

    def told(where: str) -> str:
        facts = {
            **two_ladders.facts("public"),
            "n_for_80_power": needed[where],
            "n_for_80_power_contrast": ["one", "two", where],
        }
        statistics = {**two_ladders.statistics, "slices": {"public": facts}}
        return answers(replace(two_ladders, contrasts=rows, statistics=statistics))["a_vs_b"][2]

    assert "The clearest contrast of this ladder would need 228 tasks" in told("d1")
    assert "The clearest contrast of this ladder would need 300 tasks" in told("c1")


def test_of_equally_long_ladders_none_is_called_the_longest(tmp_path: Path) -> None:
    held = [
        budget(f"{name}{calls}", calls, tokens)
        for name, tokens in (("c", 500), ("d", 900))
        for calls in (1, 4)
    ]
    _, told = decisions(read(files_of(tmp_path, budgets_of(*held))))
    assert told.text == (  # type: ignore[union-attr]
        "Answers are of the first of 2 ladders of 2 budgets, `c1` to `c4`; not of `d1` and `d4`."
    )


def test_without_a_ladder_the_answer_is_of_every_budget(tmp_path: Path) -> None:
    inputs = read(files_of(tmp_path, budgets_of(budget("x", 4, 900), budget("y", 1, 500))))
    found = answers(replace(changed(inputs, x=-0.5, y=0.5), flips=[]))
    assert found["a_vs_b"][0] == "each of `y` and `x`: the order may change"
    assert found["a_vs_b"][2].splitlines() == [
        "Resolved under some budget: 1 of 1 pair, 0 by a confirmed flip; n = 2 tasks.",
        "one before two under `y`; two before one under `x`.",
    ]
    assert found["solves_at_all"][0] == "`x`, of the largest `max_tool_calls`"
    assert not any("only one" in row[0] for row in found.values())
    _, told = decisions(inputs)
    assert told.text == (  # type: ignore[union-attr]
        "No two of these budgets lie on one ladder: they differ in more than `max_tool_calls`."
    )
    free = read(
        files_of(tmp_path / "free", budgets_of(budget("x", 4, 900), budget("y", None, 500)))
    )
    assert answers(free)["overnight"][0] == "`y`, without a `max_tool_calls`"


def test_one_budget_is_the_only_one(tmp_path: Path) -> None:
    found = answers(read(files_of(tmp_path, budgets_of(budget("x", 4, 900)))))
    assert [row[0] for row in found.values()] == ["`x`, the only one"] * 4


def test_many_flips_say_once_that_it_depends_on_the_budget(inputs: PageInputs) -> None:
    ladder = "max_seconds=60, max_tokens=500"
    flips = [
        flip_on(ladder, "calls-1", "calls-4", agent_b=f"b{place}", old_leader=f"b{place}")
        for place in range(9)
    ]
    rows = [
        {**row, "agent_b": flip["agent_b"], "rejected": row["budget"] != "free"}
        for flip in flips
        for row in inputs.contrasts
    ]
    told = answers(replace(inputs, contrasts=rows, flips=flips))["a_vs_b"][2].splitlines()
    assert told[0].startswith("Resolved under some budget of this ladder: 9 of 9 pairs, 9 by a ")
    assert told[1] == "**It depends on the budget**, by 9 confirmed flips:"
    assert told[2:] == [
        *(f"b{place} under `calls-1`, one under `calls-4`." for place in range(6)),
        "3 more: `tables/flips.csv`.",
    ]


@pytest.mark.parametrize(
    ("exhausted", "told"),
    [
        ({}, "`calls-4`, the largest of 2 budgets where equally few cells are EXHAUSTED"),
        ({"calls-1": 2, "calls-4": 1}, "`calls-4`, where the fewest cells are EXHAUSTED"),
        ({"calls-1": 1, "calls-4": 2}, "`calls-1`, where the fewest cells are EXHAUSTED"),
        (
            {"calls-1": 2, "calls-4": 2},
            "`calls-4`, the largest of 2 budgets where equally few cells are EXHAUSTED",
        ),
    ],
)
def test_of_budgets_with_equally_few_exhausted_the_largest_is_named(
    inputs: PageInputs, exhausted: dict[str, int], told: str
) -> None:
    left = dict(exhausted)
    cells = []
    for row in inputs.cells:
        capped = not row["control"] and left.get(row["budget"], 0) > 0
        left[row["budget"]] = left.get(row["budget"], 0) - capped
        outcome = "EXHAUSTED" if capped else "PASS"
        cells.append({**row, "outcome": outcome})
    assert answers(replace(inputs, cells=cells))["invents_apis"][0] == told
