"""Bytes that nobody should send, from the agent and from its endpoint: the cell goes on, or says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from cell_project import Cell, CellProject, files_with
from frozenbench.gateway import live
from frozenbench.gateway.upstream import Patience
from program_cells import program, used
from wire_endpoint import MODEL, WIRES, Act, Raw, Says, Status, streamed, whole, wire_endpoint

pytestmark = pytest.mark.slow
CHAT = WIRES[0]

#: Sends each of the pieces over a connection of its own, then prints what came back.
SENDER = """
import pathlib, socket, sys
host, port = sys.argv[1].removeprefix("http://").split(":")
for piece in pathlib.Path(sys.argv[2]).read_bytes().split(b"<cut>"):
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(piece)
        data = connection.recv(65536)
        print("got", data.partition(b"\\r\\n")[0].decode(), flush=True)
"""
GOOD = b'{"messages": [{"role": "user", "content": "hello"}]}'


def post(body: bytes, path: str = "/v1/chat/completions", more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode("latin-1") + body


def with_value(text: bytes) -> bytes:
    return GOOD[:-1] + b', "x": ' + text + b"}"


CHUNKED = b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
#: What is sent, and the status that it gets; 200 where it is a request for all that.
SENT = {
    "nested too deeply to read": (post(with_value(b"[" * 9000 + b"]" * 9000)), 400),
    "nested too deeply to work on": (post(with_value(b"[" * 900 + b"]" * 900)), 400),
    "a number beyond all numbers": (post(with_value(b"1e999")), 400),
    "packed": (post(b"\x1f\x8b\x08\x00", more="Content-Encoding: gzip\r\n"), 400),
    "half a character": (post(with_value(b'"\\ud800"')), 200),
    "bytes that are no text": (post(with_value(b'"\xff\xfe"')), 200),
    "another host": (post(GOOD, "http://elsewhere.example/v1/chat/completions"), 200),
    "a way upwards": (post(GOOD, "/../../v1/chat/completions"), 200),
    "another host by a tunnel": (b"CONNECT elsewhere.example:443 HTTP/1.1\r\n\r\n", 501),
    "a socket of the web": (b"GET /v1/responses HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", 404),
    "a chunk that is none": (CHUNKED + b"zz\r\n", 400),
    "a chunk of negative length": (CHUNKED + b"-5\r\nabc\r\n", 400),
    "a body of negative length": (b"POST /messages HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    "a header of 70 KB": (post(GOOD, more=f"X: {'a' * 70_000}\r\n"), 431),
}


def test_whatever_an_agent_sends_its_cell_goes_on(cells: CellProject) -> None:
    last = post(GOOD.replace(b"hello", b"the last"))
    sent = b"<cut>".join([*(piece for piece, _ in SENT.values()), last])
    cells.write({"sent.bin": sent}, "agents")
    with wire_endpoint(CHAT) as endpoint:
        cells.agent(
            SENDER,
            adapter="program",
            argv=["python", "agents/agent.py", "{base_url}", "agents/sent.bin"],
            code=["agents/agent.py", "agents/sent.bin"],
            endpoint={"id": "e", "wire": CHAT, "model": MODEL, "base_url": endpoint.root},
        )
        cell = cells.run()
    statuses = [status for _, status in SENT.values()]
    got = [int(line.split()[2]) for line in cell.log.splitlines() if line.startswith("got HTTP")]
    assert dict(zip(SENT, got, strict=False)) == dict(zip(SENT, statuses, strict=True)), cell.log
    taken = statuses.count(200) + 1
    assert (cell.run["ending"], len(endpoint.asked)) == ("finished", taken)
    assert used(cell, "model_calls", "tokens") == (taken, 15 * taken)


def answered(cells: CellProject, *acts: Act, stream: str = "", **more: Any) -> Cell:
    with wire_endpoint(CHAT, *acts) as endpoint:
        program(cells, CHAT, endpoint.root, stream, **more)
        return cells.run()


def odd(text: bytes) -> Raw:
    """Return an answer that is right but for one field."""
    return Raw(json.dumps({**whole(CHAT, Says(), 0), "x": 1}).encode().replace(b'"x": 1', text))


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PATIENCE", Patience(tries=2, seconds=5, first_wait=0.01))


@pytest.mark.parametrize("text", [b"[" * 9000 + b"]" * 9000, b"1e999"], ids=["deep", "endless"])
@pytest.mark.usefixtures("hasty")
def test_an_answer_that_cannot_be_stored_is_tried_again(cells: CellProject, text: bytes) -> None:
    cell = answered(cells, odd(b'"x": ' + text))
    assert cell.run["ending"] == "finished"
    assert cell.run["measured"]["infra_retries"] == 1
    assert "is not JSON" in cell.log


@pytest.mark.parametrize("stream", ["", "stream"])
@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_name_of_a_model_states_nothing(
    cells: CellProject, wire: str, stream: str
) -> None:
    with wire_endpoint(wire, always=Says(model="")) as endpoint:
        program(cells, wire, endpoint.root, stream)
        cell = cells.run()
    assert (cell.run["ending"], cell.run["measured"]["model_observed"]) == ("finished", None)


@pytest.mark.parametrize(
    "message",
    [
        "Your credit balance is too low to access the Anthropic API.",
        "API key not valid. Please pass a valid API key.",
        "You exceeded your current quota",
    ],
)
def test_a_refusal_for_want_of_money_or_key_is_no_word_on_the_request(
    cells: CellProject, message: str
) -> None:
    """Stored, it would be served to every later run, and the agent would bear the blame."""
    refused = Status(400, {"type": "error", "error": {"type": "x", "message": message}})
    cell = answered(cells, refused)
    assert cell.run["ending"] == "endpoint_down"
    assert message in cell.run["message"]
    assert cell.run["responses"]["keys"] == []
    assert answered(cells).run["ending"] == "finished"


@pytest.mark.parametrize(
    ("error", "pinned", "ending"),
    [
        ({"message": "`temperature` may only be set to 1 here"}, {"temperature": 0.5}, False),
        ({"message": "unknown field: seed"}, {"seed": 3}, False),
        ({"message": "no", "param": "seed"}, {"seed": 3}, False),
        ({"message": "`temperature` may only be set to 1 here"}, {"seed": 3}, True),
        ({"message": "no such tool: set_temperature"}, {"temperature": 0.5}, True),
        ({"message": "tools: not with this temperature", "param": "tools"}, {"seed": 3}, True),
    ],
)
def test_a_pin_that_the_endpoint_refuses_in_words(
    cells: CellProject, error: dict[str, Any], pinned: dict[str, Any], ending: bool
) -> None:
    cell = answered(cells, Says((("say", {"text": "x"}),)), Status(400, {"error": error}), **pinned)
    assert cell.run["ending"] == ("finished" if ending else "endpoint_down")
    assert ("which is pinned" in (cell.run["message"] or "")) != ending


#: A key as some services send it back: as it is, and as their JSON spells it.
KEY = "sk-planted/7f3a+9="
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "slashes": lambda key: key.replace("/", "\\/"),
    "plus": lambda key: key.replace("+", "\\u002B").replace("=", "\\u003d"),
    "numbers": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "twice": lambda key: key.replace("/", "\\\\/").replace("+", "\\\\u002b"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("place", ["answer", "stream", "model", "refused", "failed"])
@pytest.mark.usefixtures("hasty")
def test_a_key_that_comes_back_in_any_spelling_is_written_nowhere(
    cells: CellProject, monkeypatch: pytest.MonkeyPatch, place: str, spelling: str
) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)
    text = SPELLINGS[spelling](KEY)
    field = f'"{text}"'.encode()
    holds = b'{"error": {"message": ' + field + b"}}"
    named = json.dumps({**whole(CHAT, Says(), 0), "model": "NAME"}).encode()
    acts: dict[str, Act] = {
        "answer": odd(b'"x": ' + field),
        "stream": Raw(b'data: {"x": ' + field + b"}\n\n" + _stream()),
        "model": Raw(named.replace(b'"NAME"', field)),
        "refused": Status(422, holds),
        "failed": Status(500, holds),
    }
    act = acts[place]
    stream = "stream" if place == "stream" else ""
    cell = answered(cells, act, act, stream=stream, key_env="PLANTED_KEY")
    planted = [KEY, text, "7f3a+9", "7f3a\\u002"]
    assert files_with(cells.root, *planted) == []
    assert not [trace for trace in planted if trace in json.dumps(cell.run)]


def _stream() -> bytes:
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in streamed(CHAT, Says(), 0))
    return events.encode() + b"data: [DONE]\n\n"
