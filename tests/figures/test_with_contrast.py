"""The figures over what `contrast` really writes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frozenbench.canonical import canonical_json, write_json
from frozenbench.contrast import contrast
from frozenbench.draw_figure import build, draw_figure
from frozenbench.figures import figure_names, style
from frozenbench.figures.inputs import read_inputs
from matplotlib.patches import Ellipse
from read_figure import words
from synthetic_view import World, controls_of, view_of

#: Chance of PASS by agent and budget: the first leads early, the second late.
CHANCE = {"early": [0.9, 0.8, 0.2, 0.1], "late": [0.1, 0.2, 0.8, 0.9], "middle": [0.5] * 4}


def make_tables(world: World, controls: dict[str, Any]) -> tuple[pa.Table, pa.Table]:
    draws = random.Random(7)
    keys = [
        {"agent": agent, "task": task, "budget": budget, "repeat": 0}
        for agent in world.counts
        for budget in world.all_budgets()
        for task in controls["tasks"]
    ]
    cells = []
    for key in keys:
        place = list(world.all_budgets()).index(key["budget"])
        passed = draws.random() < CHANCE[key["agent"]][place]
        outcome = "PASS" if passed else draws.choice(["FAIL_TEST", "EXHAUSTED", "EXHAUSTED"])
        exhausted = outcome == "EXHAUSTED"
        task = controls["tasks"][key["task"]]
        cells.append(
            key
            | {"control": False, "outcome": outcome, "tokens": draws.randint(100, 1000)}
            | {"reason": "tool_calls" if exhausted else "finished"}
            | {"cap_hit": "tool_calls" if exhausted else None, "tool_calls": 1, "edit_rounds": 1}
            | {name: task[name] for name in ("weight", "split", "network")}
        )
    measured = [key | {"seconds": 1.0, "spend": None, "currency": None} for key in keys]
    return pa.Table.from_pylist(cells), pa.Table.from_pylist(measured)


@pytest.mark.slow
def test_from_cells_to_figures(tmp_path: Path) -> None:
    def edit(controls: dict[str, Any]) -> None:
        for place, task in enumerate(controls["tasks"].values()):
            task["weight"] = 1 + place % 3

    world = World(dict.fromkeys(CHANCE, [0] * 4), n=60, edit_controls=edit)
    controls, view = controls_of(world), view_of(world)
    view["statistics"]["resamples"] = 500
    write_json(tmp_path / "controls.json", controls)
    write_json(tmp_path / "view.json", view)
    write_json(tmp_path / "refusals.json", {"refusals": []})
    metadata = {
        b"frozenbench.controls": canonical_json(controls),
        b"frozenbench.responses": json.dumps({"distinct": 0, "recorded": True}).encode(),
    }
    tables = make_tables(world, controls)
    for name, table in zip(("cells", "measured"), tables, strict=True):
        pq.write_table(table.replace_schema_metadata(metadata), tmp_path / f"{name}.parquet")
    cells, measured = tmp_path / "cells.parquet", tmp_path / "measured.parquet"
    sheets = tmp_path / "controls.json", tmp_path / "view.json"
    statistics = tmp_path / "statistics"
    contrast(cells, measured, *sheets, tmp_path / "refusals.json", statistics)

    inputs = read_inputs("budget_curves", statistics, *sheets, measured, cells)
    with style.house_style():
        figure = build(inputs)
    facts = json.loads((statistics / "statistics.json").read_text())
    assert facts["confirmed_pairs"] >= 1
    rows = pq.read_table(statistics / "flips.parquet").to_pylist()
    ringed = [row for row in rows if row["kind"] != "unresolved"]
    rings = [item for item in figure.get_children() if isinstance(item, Ellipse)]
    assert len(rings) == len(ringed)
    said = words(figure)
    assert f"{facts['confirmed_pairs']} of {facts['pairs']} pairs have a confirmed flip" in said
    assert f"{facts['suggestive_pairs']} more a suggestive one" in said
    assert "early → late" in said
    for name in figure_names():
        draw_figure(name, statistics, *sheets, measured, cells, tmp_path / "out" / name)
        assert len(list((tmp_path / "out" / name).iterdir())) == 3
