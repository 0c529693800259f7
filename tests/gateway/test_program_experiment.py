"""`frozenbench replay` of an agent behind the gateway, and what its experiment has paid."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cell_project import CellProject
from frozenbench import layout
from frozenbench.canonical import Refused
from frozenbench.gateway.ledger import Ledger, beside
from frozenbench.grade_cell import grade_cell
from frozenbench.plan import Plan
from frozenbench.replay import replay
from frozenbench.run_cell import run_cell
from program_cells import program
from wire_endpoint import NOTHING, WIRES, Says, wire_endpoint, writes

pytestmark = pytest.mark.slow
CHANCE: tuple[str, dict[str, Any]] = ("chance", {})
PRICES = {
    "currency": "EUR",
    "input_per_million": 100_000,
    "output_per_million": 200_000,
    "cached_per_million": 50_000,
}


def all_cells(cells: CellProject) -> Plan:
    plan = cells.plan()
    environment = Path(layout.environment(plan.environment_id))
    environment.parent.mkdir(parents=True, exist_ok=True)
    environment.symlink_to(cells.environment)
    for cell in plan.cells:
        inputs, out = cells.run_inputs(plan, cell)
        run_cell(inputs, out)
        grade_cell(*cells.grade_inputs(plan, cell))
    return plan


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("call", [NOTHING, CHANCE])
def test_a_program_replays_and_drift_is_told(
    cells: CellProject, wire: str, call: tuple[str, dict[str, Any]]
) -> None:
    cells.config["budget_axis"] = "max_tool_calls"
    cells.budget(max_tool_calls=4)
    script = Says((writes(text="def add(a, b):\n    return a + b\n"),)), Says((call,)), Says()
    with wire_endpoint(wire, *script) as endpoint:
        program(cells, wire, endpoint.root, "stream", seed=3)
        plan = all_cells(cells)
    asked = len(endpoint.asked)
    found = replay(plan, None, None, 2, io.StringIO())
    lines = list(found.lines())
    assert (found.status, found.cells) == (0, 3), lines
    assert found.responses == asked == 3
    assert found.drifted == (1 if call == CHANCE else 0)
    assert lines[-1].startswith("replay: 3 of 3 cells equal, 0 differ, 0 not replayed; 3 recorded")


def test_a_program_that_has_spent_all_leaves_its_cell_open(cells: CellProject) -> None:
    cells.budget(max_tool_calls=9)
    always = Says((NOTHING,), usage=(10, 5), cached=4)
    with wire_endpoint(WIRES[0], always=always) as endpoint:
        program(cells, WIRES[0], endpoint.root, prices=PRICES)
        plan = cells.plan()
        cell = cells.cell(plan, "agent", "add")
        inputs, out = cells.run_inputs(plan, cell, max_spend=3.5)
        with pytest.raises(Refused, match=r"max_spend: 3\.50 EUR is reached \(3\.60 EUR for 2"):
            run_cell(inputs, out)
        assert len(endpoint.asked) == 2
        assert not out.exists(), "it stays open"
        ledger = Ledger(beside(inputs.controls))
        each = Decimal("1.8")  # 6 fresh, 4 cached, 5 written
        assert ledger.spent().money == {"EUR": 2 * each}
        inputs, out = cells.run_inputs(plan, cell, max_spend=99)
        run_cell(inputs, out)
    assert (out / "run.json").exists()
    assert ledger.spent().money == {"EUR": each * len(endpoint.asked)}, "none is bought twice"
