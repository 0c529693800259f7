"""A real HTTP server of the tests that answers as it is told, and a cell that asks it."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import Cell
from frozenbench.canonical import digest
from frozenbench.run.clock import AgentClock

MODEL = "scripted-1"
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class Handler(BaseHTTPRequestHandler):
    """Hands each POST to the endpoint's next behaviour."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint = self.server.endpoint
        with endpoint.guard:
            endpoint.requests.append(Request(self.path, dict(self.headers), body))
            steps = endpoint.script
            act = steps.pop(0) if steps else endpoint.always
        act(self, body)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


Act = Callable[[Handler, dict[str, Any]], None]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: Endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Endpoint:
    """The server's script: what it does next, else `always`; and what it was asked."""

    root: str
    script: list[Act]
    always: Act
    requests: list[Request] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)


def chat_body(text: str, model: str | None = MODEL, usage: Any = USAGE) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    body: dict[str, Any] = {"choices": [{"index": 0, "message": message}], "id": "chatcmpl-1"}
    return (
        body
        | ({} if model is None else {"model": model})
        | ({} if usage is None else {"usage": usage})
    )


def says(text: str, **how: Any) -> Act:
    return lambda handler, body: handler.reply(200, json.dumps(chat_body(text, **how)).encode())


def status(code: int, body: Any = None, **headers: str) -> Act:
    raw = json.dumps(body if body is not None else {"error": {"message": f"no {code}"}}).encode()
    return lambda handler, asked: handler.reply(code, raw, **headers)


def raw(body: bytes) -> Act:
    return lambda handler, asked: handler.reply(200, body)


def slow(seconds: float, then: Act) -> Act:
    def act(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        then(handler, body)

    return act


def cut_short(handler: Handler, body: dict[str, Any]) -> None:
    """Promise more than is sent, then hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "4000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.close()
    handler.close_connection = True


def trickle(handler: Handler, body: dict[str, Any]) -> None:
    """Send a byte now and then, for ever: no time-out of a single read ends it."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        handler.close_connection = True


@contextmanager
def scripted(
    *script: Act, always: Act | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[Endpoint]:
    """Serve the script on a free port, then `always` (default: says `ok`)."""
    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "http" if tls is None else "https"
    root = f"{scheme}://127.0.0.1:{server.server_port}"
    endpoint = Endpoint(root, list(script), always or says("ok"))
    server.endpoint = endpoint
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def model_cell(folder: Path, root: str, **changes: Any) -> Cell:
    """Return a cell of a chat agent whose model answers at `root`; its clock has started."""
    sheet = {
        "adapter": "chat",
        "endpoint": {"id": "scripted", "wire": "openai-chat", "model": MODEL},
        "policy": "oneshot",
        "max_output_tokens": 50,
        "temperature": 0.5,
        "seed": 7,
        **changes.pop("sheet", {}),
    }
    clock = AgentClock()
    clock.start()
    cell = Cell(
        task_id="t1",
        task_digest=digest("t1"),
        prompt="Write it.",
        artifact=("app.py",),
        fixture={},
        caps={"wall_clock": 60, "tool_calls": 4},
        budget_disclosed=False,
        repeat=0,
        sheet=sheet,
        connection={"endpoint": {"base_url": root}},
        code=None,
        isolation="none",
        environment=None,
        responses=folder / "responses",
        responses_policy="shared",
        run_key=digest("run"),
        clock=clock,
        log=lambda line: None,
    )
    return replace(cell, **changes)
