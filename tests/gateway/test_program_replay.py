"""PROTOCOL 4, "Record", of an agent behind the gateway: bought once, served again, replayed."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from cell_project import CellProject
from frozenbench import layout
from frozenbench.gateway import frozen_text
from frozenbench.gateway.record import read_clock
from program_cells import events, program, used
from replayed_cells import GONE, another, same
from wire_endpoint import NOTHING, WIRES, Says, Status, sleeps, wire_endpoint, writes

pytestmark = pytest.mark.slow
wires = pytest.mark.parametrize("wire", WIRES)
kinds = pytest.mark.parametrize(
    ("wire", "stream"), [(wire, stream) for wire in WIRES for stream in ("", "stream")]
)
CHANCE: tuple[str, dict[str, Any]] = ("chance", {})
LATER = datetime.date(2031, 2, 3)


@kinds
def test_replay_without_endpoint_in_another_folder_on_a_later_day(
    cells: CellProject, wire: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.budget(max_tool_calls=3)
    script = Says((writes(), NOTHING), seconds=0.2), Says((writes("b.py"),))
    with wire_endpoint(wire, *script, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root, stream, "today", temperature=0.5, seed=3)
        first = cells.run()
    assert first.run["ending"] == "cap:tool_calls"
    told = str(endpoint.asked[0].body)
    assert "Thu Jan 1 2026" in told
    assert "Linux 6.0.0" in told
    other = another(cells, monkeypatch, first)
    monkeypatch.setattr(frozen_text, "utc_day", lambda: LATER)
    later = {"TINY_TODAY": LATER.strftime("%a %b %d %Y")}
    program(other, wire, GONE, stream, "today", temperature=0.5, seed=3, variables=later)
    again = other.run(replay=True)
    same(first, again)
    assert again.run["measured"]["responses_live"] == 0
    assert "drift" not in again.run
    recorded = again.run["measured"]["model_seconds"]
    assert recorded == first.run["measured"]["model_seconds"] > 0.2
    assert again.run["measured"]["seconds"] > recorded  # a served response brings its time


@wires
def test_a_difference_is_told_with_its_bytes(cells: CellProject, wire: str) -> None:
    with wire_endpoint(wire, Says((CHANCE,)), Says((writes(),)), Says((CHANCE,))) as endpoint:
        program(cells, wire, endpoint.root)
        first = cells.run()
    again = cells.run(replay=True)
    same(first, again)
    drift = again.run["drift"]
    assert [item["ordinal"] for item in drift] == [1, 2, 3]
    assert [item["recorded_key"] for item in drift] == [
        event["response"] for event in events(first, "response")[1:]
    ]
    assert drift[0]["bytes"] <= 6
    assert drift[0]["asked"] != drift[0]["recorded"]
    assert len(events(again, "drift")) == 3
    assert "differs from the record from byte" in again.log


def test_each_conversation_is_replayed_by_itself(cells: CellProject) -> None:
    wire = WIRES[0]
    script = [Says((CHANCE,)), Says((CHANCE,)), Says((CHANCE,))]
    with wire_endpoint(wire, *script, always=Says()) as endpoint:
        program(cells, wire, endpoint.root, "many=3")
        first = cells.run()
    again = cells.run(replay=True)
    assert used(again, "model_calls", "tool_calls") == used(first, "model_calls", "tool_calls")
    drift = again.run["drift"]
    assert len({item["recorded_key"] for item in drift}) == 3


def test_what_is_nowhere_in_the_record_is_asked_of_nobody(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        program(cells, WIRES[0], endpoint.root)
        cell = cells.run(replay=True)
        assert endpoint.asked == []
    assert cell.run["ending"] == "endpoint_down"
    assert "replay: the record holds no answer" in cell.run["message"]


@wires
def test_a_clock_that_fell_falls_at_the_same_event(cells: CellProject, wire: str) -> None:
    cells.budget(max_seconds=1.5)
    script = Says((writes("a.py"),)), Says((writes("b.py"), sleeps(2.5)))
    with wire_endpoint(wire, *script, always=Says((writes("c.py"),))) as endpoint:
        program(cells, wire, endpoint.root)
        first = cells.run()
    assert first.run["ending"] == "cap:wall_clock"
    assert read_clock(layout.RESPONSES, first.run["run_key"]) == 1 * 3 + 2
    again = cells.run(replay=True)
    same(first, again)
    assert again.changed() == {"a.py": "x = 1\n"}


@wires
def test_a_response_that_came_too_late_does_in_a_replay_too(cells: CellProject, wire: str) -> None:
    cells.budget(max_seconds=1)
    with wire_endpoint(wire, Says((writes(),)), Says((writes("b.py"),), seconds=5)) as endpoint:
        program(cells, wire, endpoint.root)
        first = cells.run()
    assert read_clock(layout.RESPONSES, first.run["run_key"]) == 1 * 3 + 1
    same(first, cells.run(replay=True))


@pytest.mark.parametrize(("policy", "asked"), [("shared", 3), ("independent", 5)])
@wires
def test_budgets_share_their_beginning_or_do_not(
    cells: CellProject, wire: str, policy: str, asked: int
) -> None:
    cells.config["responses"] = {"policy": policy}
    with wire_endpoint(wire, always=Says((NOTHING,))) as endpoint:
        program(cells, wire, endpoint.root)
        cells.budget(max_tool_calls=1)
        cells.run()
        cells.budget(max_tool_calls=2)
        cell = cells.run()
    assert used(cell, "tool_calls", "tokens", "tokens_undelivered") == (2, 30, 15)
    assert len(endpoint.asked) == asked


def test_a_stream_is_no_answer_to_who_asks_for_a_body(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0]) as endpoint:
        for options in ((), ("stream",)):
            program(cells, WIRES[0], endpoint.root, *options)
            assert cells.run().run["ending"] == "finished"
    assert len(endpoint.asked) == 2


def test_where_it_lies_is_in_no_key(cells: CellProject) -> None:
    with wire_endpoint(WIRES[1]) as one, wire_endpoint(WIRES[1]) as two:
        for endpoint in (one, two):
            program(cells, WIRES[1], endpoint.root)
            cells.run()
    assert (len(one.asked), len(two.asked)) == (1, 0)


def test_the_refused_is_recorded_too(cells: CellProject) -> None:
    with wire_endpoint(WIRES[2], Says((NOTHING,)), Status(400)) as endpoint:
        program(cells, WIRES[2], endpoint.root)
        first = cells.run()
    again = cells.run(replay=True)
    same(first, again)
    assert "no 400" in again.log


def test_nothing_of_this_machine_is_in_an_entry(cells: CellProject) -> None:
    with wire_endpoint(WIRES[0], Says((writes(),))) as endpoint:
        program(cells, WIRES[0], endpoint.root, "today")
        cells.run()
    for path in Path(layout.RESPONSES).rglob("*.json"):
        text = path.read_text()
        assert str(cells.root) not in text
        assert endpoint.root not in text
