"""PROTOCOL 4, "Meters" and "Infrastructure faults", of an agent behind the gateway."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from cell_project import CellProject, files_with
from frozenbench.canonical import BadInput
from frozenbench.gateway import live
from frozenbench.gateway.session import tools_digest
from frozenbench.gateway.upstream import Patience
from program_cells import events, program, used
from tiny_agent import TOOLS
from wire_endpoint import (
    MODEL,
    NOTHING,
    WIRES,
    HangUp,
    Raw,
    Says,
    Status,
    sleeps,
    wire_endpoint,
    writes,
)

pytestmark = pytest.mark.slow
wires = pytest.mark.parametrize("wire", WIRES)
kinds = pytest.mark.parametrize(
    ("wire", "stream"), [(wire, stream) for wire in WIRES for stream in ("", "stream")]
)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are put up with for a moment, not for a minute."""
    monkeypatch.setattr(live, "PATIENCE", Patience(tries=4, seconds=20, first_wait=0.2))


@kinds
def test_usage_that_is_missing_makes_tokens_unknown(
    cells: CellProject, wire: str, stream: str
) -> None:
    cells.budget(max_tokens=100)
    with wire_endpoint(wire, Says((NOTHING,)), Says((NOTHING,), usage=None), Says()) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.both()
    assert cell.run["ending"] == "finished"
    assert used(cell, "tokens", "tokens_input", "tokens_output") == (None, None, None)
    assert used(cell, "tool_calls", "model_calls") == (2, 3)
    assert cell.outcome[0] == "FAIL_TEST"  # it keeps its outcome


@wires
def test_cumulative_usage_is_not_added_up(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire, Says((NOTHING,), usage=(30, 9), cumulative=True)) as endpoint:
        program(cells, wire, endpoint.root, "stream")
        cell = cells.run()
    assert used(cell, "tokens", "tokens_input", "tokens_output") == (39 + 15, 40, 14)


@kinds
def test_cached_input_is_counted_and_shown_apart(
    cells: CellProject, wire: str, stream: str
) -> None:
    with wire_endpoint(wire, Says((NOTHING,), usage=(30, 9), cached=20)) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert used(cell, "tokens", "tokens_input", "tokens_cached") == (54, 40, 20)


FAULTS = {
    "cut": Says((NOTHING,), cut=True),
    "429": Status(429, headers=(("Retry-After", "0"),)),
    "500": Status(500),
    "529": Status(529),
    "hang up": HangUp(),
    "no JSON": Raw(b'{"choices": [{'),
    "nothing": Raw(b"{}"),
}


@pytest.mark.parametrize("fault", FAULTS)
@kinds
def test_a_fault_is_tried_again_and_counted(
    cells: CellProject, wire: str, stream: str, fault: str
) -> None:
    script = Says((writes(),)), FAULTS[fault], FAULTS[fault]
    with wire_endpoint(wire, *script) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert cell.run["measured"]["infra_retries"] == 2
    assert used(cell, "tool_calls", "model_calls", "tokens") == (1, 2, 30)
    assert len(endpoint.asked) == 4


@wires
def test_waiting_for_the_endpoint_is_off_the_clock(
    cells: CellProject, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "PATIENCE", Patience(tries=4, seconds=20, first_wait=0.7))
    cells.budget(max_seconds=1.5)
    with wire_endpoint(wire, Status(503), Status(503), Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert cell.seconds > 2.1
    assert cell.run["measured"]["seconds"] < 1


@wires
def test_an_endpoint_that_stays_down_is_an_error_of_ours(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire, Says((writes(),)), always=Status(500)) as endpoint:
        program(cells, wire, endpoint.root, "stubborn")
        cell = cells.both()
    assert cell.run["ending"] == "endpoint_down"
    assert cell.run["measured"]["infra_retries"] == 3
    assert cell.outcome == ("ERROR", "endpoint_down", None)
    assert cell.seconds < 9


def test_a_refused_connection_is_one_too(cells: CellProject) -> None:
    program(cells, WIRES[0], "http://127.0.0.1:1")
    cell = cells.run()
    assert cell.run["ending"] == "endpoint_down"
    assert "refused" in cell.run["message"].lower()


def test_an_endpoint_that_comes_back_loses_no_cell(cells: CellProject) -> None:
    over = threading.Event()
    with wire_endpoint(WIRES[0], Says((writes(), sleeps(0.3)))) as endpoint:
        port = int(endpoint.root.rpartition(":")[2])

        def restart() -> None:
            time.sleep(1)
            with wire_endpoint(WIRES[0], Says((NOTHING,)), port=port):
                over.wait(20)

        thread = threading.Thread(target=restart)
        endpoint.after(1, thread.start)
        program(cells, WIRES[0], endpoint.root)
        cell = cells.run()
        over.set()
        thread.join()
    assert cell.run["ending"] == "finished"
    assert used(cell, "tool_calls", "model_calls") == (3, 3)
    assert cell.run["measured"]["infra_retries"] > 0


@kinds
def test_another_model_is_pin_drift(cells: CellProject, wire: str, stream: str) -> None:
    with wire_endpoint(wire, Says((NOTHING,)), Says((NOTHING,), model="other-2")) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.both()
    assert cell.run["ending"] == "pin_drift"
    assert cell.run["measured"]["model_observed"] == "other-2"
    assert cell.outcome == ("ERROR", "pin_drift", None)
    # what another model said is not kept: it would be served to the next cell
    assert cell.run["responses"]["keys"] == [events(cell, "response")[0]["response"]]


@wires
def test_the_tools_of_the_first_request_are_recorded(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    tools = tuple(endpoint.asked[0].body["tools"])
    assert len(tools) == len(TOOLS)
    assert cell.run["gateway"]["tools_sha256"] == tools_digest(tools)
    program(cells, wire, endpoint.root, tool_schema_sha256=tools_digest(tools))
    cell = cells.run()
    assert cell.run["ending"] == "finished"


@wires
def test_other_tools_than_the_pinned_are_pin_drift(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire) as endpoint:
        program(cells, wire, endpoint.root, tool_schema_sha256="0" * 64)
        cell = cells.run()
    assert cell.run["ending"] == "pin_drift"
    assert "tool_schema_sha256" in cell.run["message"]
    assert endpoint.asked == []


@kinds
def test_a_body_sent_again_is_answered_once(cells: CellProject, wire: str, stream: str) -> None:
    with wire_endpoint(wire, Says((writes(),), seconds=0.8)) as endpoint:
        program(cells, wire, endpoint.root, stream, "again")
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert used(cell, "tool_calls", "model_calls") == (1, 2)
    assert cell.run["gateway"]["retransmissions"] == 1
    assert len(endpoint.asked) == 2
    assert cell.changed() == {"app.py": "x = 1\n"}


@wires
def test_parallel_requests_are_answered_one_after_the_other(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire, always=Says(seconds=0.1)) as endpoint:
        program(cells, wire, endpoint.root, "many=6")
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert used(cell, "model_calls", "tokens") == (6, 90)
    assert 0.6 < cell.run["measured"]["model_seconds"] < 2
    told = [event["event"] for event in cell.trace if event["event"] in ("request", "response")]
    assert told == ["request", "response"] * 6


@wires
def test_pins_are_written_and_what_cannot_be_is_said(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire) as endpoint:
        program(cells, wire, endpoint.root, "stream", temperature=0.25, seed=7)
        cell = cells.run()
    body = endpoint.asked[0].body
    assert (body["model"], body["temperature"]) == (MODEL, 0.25)
    seeded = wire == "openai-chat"
    assert ("seed" in body) is seeded
    pins = cell.run["gateway"]["pins"]
    assert pins["unpinned"] == ([] if seeded else ["seed"])
    assert pins["accepted"] is True
    assert body.get("stream_options") == ({"include_usage": True} if seeded else None)


def test_a_pin_that_is_refused_is_named(cells: CellProject) -> None:
    error = {"error": {"message": "unsupported", "param": "temperature"}}
    with wire_endpoint(WIRES[1], always=Status(400, error)) as endpoint:
        program(cells, WIRES[1], endpoint.root, temperature=0.25)
        cell = cells.run()
    assert cell.run["ending"] == "endpoint_down"
    assert "does not take temperature" in cell.run["message"]


@wires
def test_what_the_endpoint_says_of_a_request_is_told(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire, Says((writes(),)), Status(400)) as endpoint:
        program(cells, wire, endpoint.root)
        cell = cells.run()
    assert cell.run["ending"] == "finished"
    assert "no 400" in cell.log
    assert used(cell, "model_calls", "tokens") == (1, 15)
    assert cell.run["measured"]["infra_retries"] == 0


def test_a_request_that_is_no_json_is_refused(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        program(cells, WIRES[0], endpoint.root, "json")
        cell = cells.run()
    assert cell.run["ending"] == "crashed"
    assert "is no JSON" in cell.log
    assert endpoint.asked == []


def test_prices_make_spend(cells: CellProject) -> None:
    prices = {"currency": "EUR", "input_per_million": 1.0, "output_per_million": 10.0}
    with wire_endpoint(WIRES[2], Says((NOTHING,), usage=(1000, 100))) as endpoint:
        program(cells, WIRES[2], endpoint.root, prices=prices)
        cell = cells.run()
    assert cell.run["measured"]["spend"] == pytest.approx((1010 + 1050) / 1e6)


@wires
def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    cells: CellProject, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-planted-7f3a9"
    monkeypatch.setenv("PLANTED_KEY", secret)
    echo = {"error": {"message": f"your key {secret} is wrong"}}
    script = Says((writes(),)), Status(429, echo), Status(400, echo)
    with wire_endpoint(wire, *script) as endpoint:
        program(cells, wire, endpoint.root, key_env="PLANTED_KEY")
        cell = cells.run()
    assert secret in " ".join(endpoint.asked[0].headers.values())
    assert "of-the-box" not in " ".join(endpoint.asked[0].headers.values())
    assert "[key]" in cell.log
    assert files_with(Path.cwd(), secret) == []


def test_a_key_that_is_not_set_is_bad_input(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        program(cells, WIRES[0], endpoint.root, key_env="NO_SUCH_KEY")
        with pytest.raises(BadInput, match="NO_SUCH_KEY is not set"):
            cells.run()
