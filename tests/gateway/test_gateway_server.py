"""The gateway's HTTP server on its Unix socket: order, retransmissions, hang-ups, pings, probes."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from frozenbench.gateway import server as server_module
from frozenbench.gateway.server import Job, Reply, Request, Server
from frozenbench.gateway.side_routes import is_model_request, side_reply
from frozenbench.gateway.wires import FORMATS, format_of
from hypothesis import given
from hypothesis import strategies as st


class Gate:
    """A server whose answers are the requests' own bodies, after a while."""

    def __init__(self, path: Path) -> None:
        self.path, self.answered, self.repeated = path, list[bytes](), 0
        self.seconds = 0.0
        self.hold = threading.Event()
        self.hold.set()
        self.server = Server(path, self.queued, self.answer, self.aside, self.again)

    def queued(self, request: Request) -> bool:
        return request.method == "POST"

    def answer(self, job: Job) -> Reply | None:
        self.hold.wait(10)
        time.sleep(self.seconds)
        self.answered.append(job.request.body)
        if job.request.body == b"nothing":
            return None
        streamed = b'"stream": true' in job.request.body
        return Reply(200, b"data: " + job.request.body + b"\n\n", streamed)

    def aside(self, request: Request) -> Reply:
        return Reply(200, b"aside")

    def again(self) -> None:
        self.repeated += 1

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(self.path))
        return connection

    def ask(self, body: bytes) -> bytes:
        """Send a request and read its response as http.client does."""
        connection = http.client.HTTPConnection("gateway")
        connection.sock = self.connect()
        connection.request("POST", "/v1/messages", body)
        return connection.getresponse().read()


def raw(body: bytes, head: str = "") -> bytes:
    return (
        f"POST /v1/messages HTTP/1.1\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body
    )


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    found = Gate(tmp_path / "socket")
    with found.server:
        yield found


def test_a_connection_is_kept_for_many_requests(gate: Gate) -> None:
    connection = http.client.HTTPConnection("gateway")
    connection.sock = gate.connect()
    for number in range(5):
        connection.request("POST", "/x", b"%d" % number)
        assert connection.getresponse().read() == b"data: %d\n\n" % number
    connection.request("GET", "/models")
    assert connection.getresponse().read() == b"aside"


def test_parallel_requests_are_answered_in_order_of_arrival(gate: Gate) -> None:
    gate.hold.clear()
    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=gate.ask, args=(b"%d" % number,)))
        threads[-1].start()
        time.sleep(0.05)
    gate.hold.set()
    for thread in threads:
        thread.join()
    assert gate.answered == [b"%d" % number for number in range(6)]


def test_a_body_sent_again_meanwhile_shares_the_answer(gate: Gate) -> None:
    gate.hold.clear()
    got: list[bytes] = []
    threads = [threading.Thread(target=lambda: got.append(gate.ask(b"same"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    gate.hold.set()
    for thread in threads:
        thread.join()
    assert got == [b"data: same\n\n"] * 3
    assert gate.answered == [b"same"]
    assert gate.repeated == 2


def test_an_answer_that_nobody_took_is_kept(gate: Gate) -> None:
    gate.seconds = 0.3
    connection = gate.connect()
    connection.sendall(raw(b"kept"))
    time.sleep(0.1)
    connection.close()
    time.sleep(0.5)
    assert gate.ask(b"kept") == b"data: kept\n\n"
    assert gate.answered == [b"kept"]
    assert gate.repeated == 1
    # delivered in full by now: the same body is a new request
    gate.ask(b"kept")
    assert gate.answered == [b"kept", b"kept"]


def test_a_request_that_was_given_up_in_the_queue_is_never_answered(gate: Gate) -> None:
    gate.hold.clear()
    first = threading.Thread(target=gate.ask, args=(b"first",))
    first.start()
    time.sleep(0.1)
    connection = gate.connect()
    connection.sendall(raw(b"given up"))
    time.sleep(0.1)
    connection.close()
    time.sleep(0.1)
    gate.hold.set()
    first.join()
    gate.ask(b"last")
    assert gate.answered == [b"first", b"last"]


def test_a_stream_that_is_waited_for_gets_pings(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "PING_SECONDS", 0.1)
    gate.seconds = 0.45
    body = json.dumps({"stream": True}).encode()
    got = gate.ask(body)
    assert got.startswith(b": keep-alive\n\n" * 3)
    assert got.endswith(b"data: " + body + b"\n\n")


def test_where_there_is_no_answer_the_connection_ends(gate: Gate) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        gate.ask(b"nothing")


def test_a_body_in_chunks(gate: Gate) -> None:
    connection = gate.connect()
    connection.sendall(
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    )
    assert b"data: abcde" in connection.recv(65536)


def test_a_caller_that_waits_for_leave_to_go_on_gets_it(gate: Gate) -> None:
    connection = gate.connect()
    connection.sendall(raw(b"", "Expect: 100-continue\r\n"))
    assert connection.recv(65536).startswith(b"HTTP/1.1 100")


def test_a_stream_for_http_1_0_ends_with_its_connection(gate: Gate) -> None:
    connection = gate.connect()
    body = b'{"stream": true}'
    connection.sendall(b"POST /x HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    data = b""
    while piece := connection.recv(65536):
        data += piece
    assert data.endswith(b"data: " + body + b"\n\n")
    assert b"chunked" not in data


def test_a_stream_for_http_1_0_is_waited_for_without_chunks(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "PING_SECONDS", 0.1)
    gate.seconds = 0.35
    connection = gate.connect()
    body = b'{"stream": true}'
    connection.sendall(b"POST /x HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    data = b""
    while piece := connection.recv(65536):
        data += piece
    events = data.partition(b"\r\n\r\n")[2]
    assert events.replace(server_module.PING, b"") == b"data: " + body + b"\n\n"
    assert events.startswith(server_module.PING * 2)


@given(data=st.binary(max_size=200))
def test_bytes_that_are_no_request_harm_nobody(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    gate = Gate(tmp_path_factory.mktemp("gate") / "socket")
    with gate.server:
        connection = gate.connect()
        connection.sendall(data)
        connection.close()
        assert gate.ask(b"well") == b"data: well\n\n"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_agents_ask_besides(name: str) -> None:
    wire = format_of(name)
    assert is_model_request(wire, "POST", f"/v1{wire.PATH}?beta=true")
    assert not is_model_request(wire, "GET", f"/v1{wire.PATH}")
    assert not is_model_request(wire, "POST", f"/v1{wire.PATH}/count_tokens")

    def asked(method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, object]]:
        return side_reply(wire, method, path, body, "m")

    status, models = asked("GET", "/v1/models?limit=1")
    assert (status, models["data"][0]["id"]) == (200, "m")  # type: ignore[index]
    assert asked("GET", "/v1/models/m")[1]["id"] == "m"
    assert asked("POST", "/v1/messages/count_tokens", b"x" * 40) == (200, {"input_tokens": 10})
    for method, path in (("HEAD", "/"), ("GET", "/health"), ("GET", "/")):
        assert asked(method, path)[0] == 200
    for method, path in (("POST", "/v1/embeddings"), ("GET", "/etc/passwd"), ("DELETE", "/v1")):
        assert asked(method, path)[0] == 404
