"""The http adapter, with a real server: proposals by POST, faults that are not the agent's, keys."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from cell_project import RIGHT, Cell, CellProject, files_with
from frozenbench.canonical import BadInput
from scripted_endpoint import Act, Endpoint, cut_short, raw, scripted, slow, status, trickle

KEY = "sk-live-6f1d2c-secret"


def proposes(**proposal: Any) -> Act:
    return raw(json.dumps(proposal).encode())


RIGHT_AND_DONE = proposes(files={"app.py": RIGHT}, tool_name="write", tokens=9, done=True)


def ran(cells: CellProject, endpoint: Endpoint, path: str = "/propose", **fields: Any) -> Cell:
    cells.config["accept_unsandboxed"] = ["agent"]
    cells.agent(adapter="http", version="1", url=endpoint.root + path, **fields)
    return cells.run()


def test_a_proposal_becomes_a_snapshot(cells: CellProject) -> None:
    with scripted(RIGHT_AND_DONE) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "finished"
    assert cell.changed() == {"app.py": RIGHT}
    assert (cell.run["meters"]["tool_calls"], cell.run["meters"]["tokens"]) == (1, 9)
    assert cell.run["measured"]["infra_retries"] == 0
    assert cells.grade().outcome == ("PASS", "finished", None)


def test_what_it_is_asked(cells: CellProject) -> None:
    fixture = {"a.py": "a\r\n", "blob": b"\xff\x00"}
    cells.task(fixture=fixture, solution={"app.py": RIGHT})
    with scripted(proposes(files={"b": "x"}, tokens=1), proposes(done=True)) as endpoint:
        ran(cells, endpoint)
    first, second = (request.body for request in endpoint.requests)
    task = {"id": "add", "prompt": "Correct add.\n"}
    assert first == {
        "task": task | {"files": {"a.py": "a\r\n", "blob": {"bytes": 2}}},
        "history": [],
    }
    assert second["task"]["files"] == {"a.py": "a\r\n", "b": "x", "blob": {"bytes": 2}}
    said = {"files": {"b": "x"}, "tool_name": None, "tokens": 1, "done": False, "gave_up": False}
    assert second["history"] == [said]


def test_the_budget_is_told_only_where_it_is_disclosed(cells: CellProject) -> None:
    cells.config["budget_disclosed"] = True
    with scripted(proposes(done=True)) as endpoint:
        ran(cells, endpoint)
    budget = {"tool_calls": 4, "wall_clock": 20}
    assert endpoint.requests[0].body["task"]["budget"] == budget


@pytest.mark.parametrize("path", ["/propose", "/propose/", "/a/b?x=1", "", "/"])
def test_its_address_is_taken_as_it_is(cells: CellProject, path: str) -> None:
    with scripted(proposes(done=True)) as endpoint:
        assert ran(cells, endpoint, path).run["ending"] == "finished"
    assert endpoint.requests[0].path == (path or "/")


def test_it_may_give_up(cells: CellProject) -> None:
    with scripted(proposes(gave_up=True)) as endpoint:
        assert ran(cells, endpoint).run["ending"] == "gave_up"


MALFORMED = {
    "unknown field": {"file": {}},
    "a field of model answers": {"model": "gpt", "done": True},
    "files a list": {"files": []},
    "tokens text": {"tokens": "1"},
    "tokens beyond all counts": {"tokens": 10**30},
    "path above": {"files": {"../x": ""}},
    "done null in words": {"done": "null"},
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_is_no_proposal_is_a_crash(cells: CellProject, case: str) -> None:
    with scripted(proposes(**MALFORMED[case])) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "crashed"
    assert len(endpoint.requests) == 1
    assert cells.grade().outcome == ("ERROR", "adapter_crash", None)


@pytest.mark.parametrize("body", [b"{'done': True}", b"[]", b"null", b"\xff"])
def test_an_answer_that_is_no_json_is_a_crash_at_once(cells: CellProject, body: bytes) -> None:
    """It is whole, so nothing of the infrastructure failed, and another try would be a gift."""
    with scripted(raw(body), always=RIGHT_AND_DONE) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "crashed"


@pytest.mark.slow
def test_faults_are_tried_again_off_its_clock(cells: CellProject) -> None:
    with scripted(slow(0.3, status(502)), cut_short, status(429), RIGHT_AND_DONE) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "finished"
    assert cell.changed() == {"app.py": RIGHT}
    assert cell.run["meters"]["tool_calls"] == 1
    assert cell.seconds > 3.5  # 0.5, 1 and 2 s between the tries
    assert cell.run["measured"]["seconds"] < 1
    bodies = [request.body for request in endpoint.requests]
    assert bodies == [bodies[0]] * 4
    assert cell.log.count("failed") == 3


@pytest.mark.slow
def test_faults_are_counted(cells: CellProject) -> None:
    with scripted(status(500), status(503), RIGHT_AND_DONE) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "finished"
    assert cell.run["measured"]["infra_retries"] == 2


@pytest.mark.slow
def test_an_endpoint_that_stays_down_is_an_error(cells: CellProject) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    cells.config["accept_unsandboxed"] = ["agent"]
    cells.agent(adapter="http", version="1", url=f"http://127.0.0.1:{port}/")
    cell = cells.both()
    assert cell.run["ending"] == "endpoint_down"
    assert cell.outcome == ("ERROR", "endpoint_down", None)
    assert cell.run["measured"]["infra_retries"] == 4
    assert cell.run["measured"]["seconds"] < 1
    assert cell.run["meters"]["tool_calls"] == 0


@pytest.mark.parametrize("code", [301, 400, 404, 204])
def test_a_status_that_no_retry_mends_is_an_error_at_once(cells: CellProject, code: int) -> None:
    with scripted(always=status(code)) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "endpoint_down"
    assert len(endpoint.requests) == 1
    assert str(code) in cell.run["message"]


@pytest.mark.parametrize("late", [slow(30, RIGHT_AND_DONE), trickle], ids=["silent", "trickling"])
def test_the_clock_ends_an_answer_that_takes_too_long(cells: CellProject, late: Act) -> None:
    cells.budget(max_seconds=0.8)
    with scripted(late) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "cap:wall_clock"
    assert 0.8 <= cell.run["measured"]["seconds"] < 1.2
    assert cell.seconds < 3
    assert cell.run["meters"]["tool_calls"] == 0
    assert cells.grade().outcome == ("EXHAUSTED", "wall_clock", "wall_clock")


def test_the_time_of_all_answers_adds_up(cells: CellProject) -> None:
    cells.budget(max_seconds=1.5)
    with scripted(always=slow(0.6, proposes(files={"a": "x"}))) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "cap:wall_clock"
    assert cell.run["meters"]["tool_calls"] == 2
    assert len(endpoint.requests) == 3


def test_a_proposal_whose_tokens_do_not_fit_is_withheld(cells: CellProject) -> None:
    cells.budget(max_tokens=10)
    with scripted(always=proposes(files={"a": "x"}, tokens=6)) as endpoint:
        cell = ran(cells, endpoint)
    assert cell.run["ending"] == "cap:tokens"
    assert (cell.run["meters"]["tokens"], cell.run["meters"]["tokens_undelivered"]) == (6, 6)
    assert len(endpoint.requests) == 2


@pytest.mark.slow
def test_its_key_is_sent_and_never_written(
    cells: CellProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    told = {"error": {"message": f"the key {KEY} is over its limit"}}
    with scripted(status(429, told), proposes(files={"a": KEY[:5]}, done=True)) as endpoint:
        cell = ran(cells, endpoint, key_env="AGENT_KEY")
    assert cell.run["ending"] == "finished"
    sent = [request.headers["Authorization"] for request in endpoint.requests]
    assert sent == [f"Bearer {KEY}"] * 2
    assert "[key]" in cell.log
    cells.grade()
    assert files_with(cells.root / "results", KEY) == []
    with scripted(status(403, told)) as endpoint:
        cell = ran(cells, endpoint, key_env="AGENT_KEY")
    assert cell.run["ending"] == "endpoint_down"
    assert "[key]" in cell.run["message"]
    assert files_with(cells.root / "results", KEY) == []


def test_without_a_key_none_is_sent(cells: CellProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    with scripted(proposes(done=True)) as endpoint:
        ran(cells, endpoint)
    assert "Authorization" not in endpoint.requests[0].headers


def test_a_key_that_is_not_set_is_bad_input(cells: CellProject) -> None:
    message = "AGENT_KEY is not set, .*cure: export"
    with scripted(proposes(done=True)) as endpoint, pytest.raises(BadInput, match=message):
        ran(cells, endpoint, key_env="AGENT_KEY")
    assert endpoint.requests == []
    assert list((cells.root / "results" / "runs").glob("*/run.json")) == []


def test_its_address_and_key_name_are_in_no_key(cells: CellProject) -> None:
    keys = []
    for path, name in (("/a", None), ("/b", "AGENT_KEY")):
        key_env = {} if name is None else {"key_env": name}
        cells.agent(adapter="http", version="1", url=f"http://127.0.0.1:1{path}", **key_env)
        keys.append(cells.cell(cells.plan(), "agent", "add").run_key)
    cells.agent(adapter="http", version="2", url="http://127.0.0.1:1/a")
    keys.append(cells.cell(cells.plan(), "agent", "add").run_key)
    assert keys[0] == keys[1] != keys[2]
