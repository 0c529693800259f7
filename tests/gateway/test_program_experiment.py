"""`frozenbench replay` of an agent behind the gateway, and what its experiment has paid."""

from __future__ import annotations

import io
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cell_project import CellProject
from frozenbench import layout
from frozenbench.canonical import Refused, read_json
from frozenbench.gateway.ledger import Ledger, beside
from frozenbench.grade_cell import grade_cell
from frozenbench.plan import Plan
from frozenbench.replay import replay
from frozenbench.run_cell import run_cell
from program_cells import program
from wire_endpoint import MODEL, NOTHING, WIRES, Says, wire_endpoint, writes

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


LEAVES = """
import socket, sys, time
host, port = sys.argv[1].removeprefix("http://").split(":")
with socket.create_connection((host, int(port))) as connection:
    body = b'{"messages": [], "max_tokens": 40}'
    head = b"POST /v1/chat/completions HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
    connection.sendall(head + body)
    time.sleep(0.5)
"""


def test_what_was_under_way_when_an_agent_ended_was_paid(cells: CellProject) -> None:
    endpoint = {"id": "e", "wire": WIRES[0], "model": MODEL}
    with wire_endpoint(WIRES[0], always=Says(seconds=5)) as server:
        cells.agent(
            LEAVES,
            adapter="program",
            argv=["python", "agents/agent.py", "{base_url}"],
            endpoint={**endpoint, "base_url": server.root},
            prices=PRICES,
        )
        plan = cells.plan()
        inputs, out = cells.run_inputs(plan, cells.cell(plan, "agent", "add"))
        begun = time.monotonic()
        run_cell(inputs, out)
        spent = Ledger(beside(inputs.controls)).spent()
        assert time.monotonic() - begun < 4, "its answer is not waited for"
    assert (spent.responses, spent.estimated) == (1, 1)
    run = read_json(out / "run.json")
    assert (run["ending"], run["hits"]) == ("crashed", [])
    assert run["measured"]["seconds"] < 2, "it did not work for as long as it might have"
    assert "Traceback" not in (out / "log").read_text()
    assert "try 1 failed" not in (out / "log").read_text()


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
