from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from frozenbench.figures import figure_names, header
from frozenbench.figures.inputs import Inputs
from matplotlib.figure import Figure
from read_figure import words
from synthetic_view import World, hex64

COUNTS = {"first": [14, 14], "second": [12, 18]}
Draw = Callable[..., tuple[Figure, Inputs]]


def rows(inputs: Inputs) -> dict[str, str]:
    held = header.read_controls(inputs)
    return {key: value for column in held.columns for key, value in column} | dict(held.extra)


def agents(inputs: Inputs) -> dict[str, dict[str, str]]:
    held = header.read_controls(inputs)
    return {row[0]: dict(zip(held.heads, row, strict=True)) for row in held.agents}


def test_plain_experiment(draw: Draw) -> None:
    _, inputs = draw(World(COUNTS, caps=(1, 8)))
    assert rows(inputs) == {
        "pack": "synthetic (proposal)",
        "pack sha256": hex64("pack")[:12],
        "grader": "in-process",
        "tasks": "48, weight 1",
        "cells": "192, 0 missing",
        "tool calls": "swept 1, 8",
        "edit rounds": "no cap",
        "tokens": "20000 per run",
        "wall clock": "300 s per run",
        "repeats": "1, budget undisclosed",
        "isolation": "userns, net blocked",
        "grading": "every_step, oracle stop",
        "clock": "guard",
        "responses": "shared, 384 recorded 2026-11-30",
        "python / lock": f">=3.11 / {hex64('lock')[:12]}",
    }
    assert agents(inputs)["second"] == {
        "agent": "second",
        "endpoint": "local",
        "model": "Synthetic-135M-Instruct",
        "weights sha256": hex64("weights")[:12],
        "temp": "0.8",
        "seed": "17",
        "adapter": "chat/repair",
        "sheet sha256": hex64("second")[:12],
    }


@pytest.mark.parametrize("figure", figure_names())
def test_every_control_is_written_in_every_figure(draw: Draw, figure: str) -> None:
    picture, inputs = draw(World(COUNTS, caps=(1, 8)), figure)
    written = words(picture)
    assert "FROZEN CONTROLS" in written
    for value in rows(inputs).values():
        assert value in written
    for row in agents(inputs).values():
        for value in row.values():
            assert value in written


def test_weights_and_slice_and_subset_and_unqualified(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        for place, task in enumerate(controls["tasks"].values()):
            task |= {"weight": 1 + place % 5, "qualified": place > 2}
            task["grader_trust"] = "split" if place else "exit-status"
        controls["task_subset"] = list(controls["tasks"])[:40]

    figure, inputs = draw(World(COUNTS, caps=(1, 8), slices=("held_out",), edit_controls=edit))
    assert rows(inputs)["tasks"] == "40 held_out (subset), weights 1-5, 3 unqualified"
    assert rows(inputs)["grader"] == "exit-status, split"
    assert rows(inputs)["cells"] == "160, 0 missing"
    assert "SUBSET OF THE TASKS" in words(figure)


@pytest.mark.parametrize("figure", ["budget_curves", "pareto"])
def test_bars_of_weighted_rates_are_over_the_effective_number_of_tasks(
    draw: Draw, figure: str
) -> None:
    def edit(controls: dict[str, Any]) -> None:
        for place, task in enumerate(controls["tasks"].values()):
            task["weight"] = 1 if place % 2 else 3

    even, _ = draw(World(COUNTS, caps=(1, 8)), figure)
    assert "Wilson intervals over 48 tasks" in words(even)
    assert "effective n" not in words(even)
    uneven, _ = draw(World(COUNTS, caps=(1, 8), edit_controls=edit), figure)
    assert "Wilson intervals over 48 tasks (effective n 38.4)" in words(uneven).replace("\n", " ")
    if figure == "budget_curves":
        assert "bars over\n48 tasks of one weight" in words(uneven)


def test_missing_cells_are_counted(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["repeats"] = 2

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert rows(inputs)["cells"] == "192, 192 missing"


def test_open_network_tasks_are_out_and_said(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["tasks"]["public-000"]["network"] = "open"

    figure, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert rows(inputs)["tasks"] == "47, weight 1"
    assert rows(inputs)["cells"] == "188, 0 missing"
    assert "Left out: 1 tasks with open network." in words(figure).replace("\n", " ")


def test_public_is_drawn_where_both_slices_are(draw: Draw) -> None:
    figure, inputs = draw(World(COUNTS, caps=(1, 8), slices=("held_out", "public")))
    assert rows(inputs)["tasks"] == "48, weight 1"
    assert "held_out: see the tables" in words(figure).replace("\n", " ")


@pytest.mark.parametrize(
    ("responses", "said", "replayed"),
    [
        ({"distinct": 0, "recorded": True}, "shared, none used", False),
        ({"distinct": 5, "recorded": False, "first_date": None}, "shared, 5 live", False),
        (
            {
                "distinct": 5,
                "recorded": True,
                "first_date": "2026-01-02",
                "last_date": "2026-03-04",
            },
            "shared, 5 recorded 2026-01-02..03-04",
            True,
        ),
        (
            {
                "distinct": 5,
                "recorded": True,
                "first_date": "2025-01-02",
                "last_date": "2026-03-04",
            },
            "shared, 5 recorded 2025-01-02..2026-03-04",
            True,
        ),
    ],
)
def test_responses(draw: Draw, responses: dict[str, Any], said: str, replayed: bool) -> None:
    figure, inputs = draw(World(COUNTS, caps=(1, 8), responses=responses))
    assert rows(inputs)["responses"] == said
    assert ("REPLAYED" in words(figure)) is replayed


@pytest.mark.parametrize(
    ("axis", "caps", "meter", "said"),
    [
        ("max_tokens", (1000, 2000), "tokens", "swept 1000, 2000"),
        ("max_tokens", (1000, None), "tokens", "swept 1000, no cap"),
        ("max_seconds", (30, 60), "wall clock", "swept 30, 60 s"),
        ("max_edit_rounds", (3,), "edit rounds", "3 per run"),
        ("max_edit_rounds", (None,), "edit rounds", "no cap"),
        ("max_edit_rounds", (3, 4), "tool calls", "no cap"),
    ],
)
def test_caps(draw: Draw, axis: str, caps: tuple[int | None, ...], meter: str, said: str) -> None:
    counts = {name: held[: len(caps)] for name, held in COUNTS.items()}
    _, inputs = draw(World(counts, caps=caps, axis=axis))
    assert rows(inputs)[meter] == said


def test_a_tasks_own_clock_is_said(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["tasks"]["public-000"]["budget_s"] = 90

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert rows(inputs)["wall clock"] == "300 s, tasks from 90 s"


def test_final_grading_is_no_oracle_stop(draw: Draw) -> None:
    figure, inputs = draw(
        World(COUNTS, caps=(1, 8), edit_controls=lambda controls: controls.update(grading="final"))
    )
    assert rows(inputs)["grading"] == "final"
    assert "oracle" not in words(figure)


def test_what_is_accepted_and_disclosed_and_unlocked(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["accepted"] = {"accept_unmetered": ["first", "second"], "accept_error_share": 0.1}
        controls["budget_disclosed"] = True
        controls["environment"]["lock_sha256"] = None

    figure, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    held = rows(inputs)
    assert held["accept error share"] == "0.1"
    assert held["accept unmetered"] == "first, second"
    assert held["repeats"] == "1, budget disclosed"
    assert held["python / lock"] == ">=3.11 / none"
    assert "accept unmetered" in words(figure)


def test_agents_without_endpoint_or_pins(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["agents"]["first"]["sheet"] = {"adapter": "python", "module": "m"}
        sheet = controls["agents"]["second"]["sheet"]
        del sheet["temperature"], sheet["seed"], sheet["policy"]
        del sheet["endpoint"]["weights_sha256"]
        sheet["tool_schema_sha256"] = "ab" * 32

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    first, second = agents(inputs)["first"], agents(inputs)["second"]
    assert first["adapter"] == "python"
    assert {first[key] for key in ("endpoint", "model", "temp", "seed", "tools sha256")} == {"-"}
    assert second["adapter"] == "chat"
    assert {second[key] for key in ("weights sha256", "temp", "seed")} == {"not pinned"}
    assert second["tools sha256"] == "ab" * 6


def test_temperature_zero_is_zero_and_not_absent(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["agents"]["first"]["sheet"] |= {"temperature": 0, "seed": 0}

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert (agents(inputs)["first"]["temp"], agents(inputs)["first"]["seed"]) == ("0", "0")


def test_only_python_agents_need_no_endpoint_columns(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        for agent in controls["agents"].values():
            agent["sheet"] = {"adapter": "python"}

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert header.read_controls(inputs).heads == ("agent", "adapter", "sheet sha256")


def test_the_pack_speaks_for_itself_in_either_sheet(draw: Draw) -> None:
    def edit(controls: dict[str, Any]) -> None:
        controls["pack"] |= {"name": "older", "status": "published"}

    _, inputs = draw(World(COUNTS, caps=(1, 8), edit_controls=edit))
    assert rows(inputs)["pack"] == "synthetic (proposal)"
    world = World(COUNTS, caps=(1, 8), edit_controls=edit, edit_view=lambda view: view.pop("pack"))
    figure, inputs = draw(world)
    assert rows(inputs)["pack"] == "older (published)"
    assert "PACK STATUS" not in words(figure)


def test_columns_that_do_not_fit_raise(draw: Draw) -> None:
    _, inputs = draw(World(COUNTS, caps=(1, 8)))
    controls = header.read_controls(inputs)
    assert header.lay_out(controls, 6.48).height > 0
    with pytest.raises(BadInput, match=r"header: .*: the columns of the controls need"):
        header.lay_out(controls, 3.0)
