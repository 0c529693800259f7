"""The endpoint's server: one script, three wire formats, on a loopback port or a Unix socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import BaseServer, TCPServer, ThreadingMixIn, UnixStreamServer
from typing import Any

from frozenbench.canonical import BadInput
from frozenbench.scripted_endpoint import chat, messages, responses
from frozenbench.scripted_endpoint.answer import Answer
from frozenbench.scripted_endpoint.intents import spell
from frozenbench.scripted_endpoint.offered import PATHS, offered_tools
from frozenbench.scripted_endpoint.script import Script, Step

#: Wire format -> the module that answers in it.
FORMATS: dict[str, Any] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic-messages": messages,
}
#: The longest request that is read, bytes.
MAX_REQUEST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Served:
    """One request for an answer, and what it got.

    Attributes:
        number: of the request, from 0.
        wire: its wire format.
        streamed: whether it asked for a stream.
        step: number of the script's answer, from 0; None for a side request (no tools).
        status: of the answer; 0 where the endpoint hung up in the middle.
        text: what was said, and `calls` the names of the tools that were called.
        headers: of the request, names in lower case.
        body: the request.
    """

    number: int
    wire: str
    streamed: bool
    step: int | None
    status: int
    text: str
    calls: tuple[str, ...]
    headers: dict[str, str]
    body: dict[str, Any]

    def line(self) -> str:
        """Return the request and its answer as one line."""
        tools = [tool.name for tool in offered_tools(self.body)]
        asked = f"{len(tools)} tools" if tools else "no tools"
        size = len(json.dumps(self.body))
        place = "side request" if self.step is None else f"step {self.step}"
        got = f"HTTP {self.status}" if self.status else "hung up"
        what = ", ".join(self.calls) or json.dumps(self.text[:60], ensure_ascii=False)
        stream = "streamed" if self.streamed else "whole"
        return (
            f"{self.number:3d}  {self.wire}  {stream}  model {self.body.get('model')}  "
            f"{size} bytes, {asked} -> {place}: {got}, {what}"
        )


@dataclass
class Endpoint:
    """A running endpoint.

    Attributes:
        root: its base URL, or the path of its Unix socket.
        served: requests for an answer in the order of their arrival; others are not kept.
    """

    script: Script
    work: str = "/work"
    root: str = ""
    served: list[Served] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _next: int = 0
    _with_tools: bool = False

    def lines(self) -> list[str]:
        """Return one line for each request that was served so far."""
        with self._guard:
            return [served.line() for served in self.served]

    def reset(self) -> None:
        """Begin the script anew and forget what was served."""
        with self._guard:
            self.served.clear()
            self._next, self._with_tools = 0, False

    def take(self, wire: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[Step, Answer]:
        """Return the step that a request gets, and its answer; keeps the request as served."""
        with self._guard:
            tools = bool(offered_tools(body))
            side = self._with_tools and not tools
            self._with_tools = self._with_tools or tools
            place = None if side else self._next
            step = Step(say=self.script.side) if side else self.script.step(self._next)
            self._next += not side
            text, calls = ("", ()) if step.status else spell(step, body, self.work)
            served = Served(
                number=len(self.served),
                wire=wire,
                streamed=body.get("stream") is True,
                step=place,
                status=0 if step.cut else step.status or 200,
                text=text,
                calls=tuple(call.name for call in calls),
                headers=headers,
                body=body,
            )
            self.served.append(served)
        options = body.get("stream_options")
        wants = isinstance(options, dict) and options.get("include_usage") is True
        asked = body.get("model")
        answer = Answer(
            number=served.number,
            model=step.model or self.script.model or (asked if isinstance(asked, str) else ""),
            text=text,
            calls=calls,
            tokens=step.tokens or self.script.tokens,
            usage=step.usage,
            broken=step.broken_arguments,
            asked_for_usage=wants,
        )
        return step, answer


class _Server(ThreadingMixIn, BaseServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    endpoint: Endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _PortServer(_Server, TCPServer):
    allow_reuse_address = True


class _SocketServer(_Server, UnixStreamServer):
    pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        if self.request.family != socket.AF_UNIX:  # a piece of a stream waits for no other
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def address_string(self) -> str:
        """A client of a Unix socket has no address."""
        return "client"

    def log_message(self, format: str, *args: object) -> None:
        """The endpoint keeps its own list."""

    def do_GET(self) -> None:
        """Health, the list of models, and what was served."""
        endpoint, path = self.server.endpoint, self.path.partition("?")[0]
        if path.endswith("/served"):
            self._reply(200, "".join(f"{line}\n" for line in endpoint.lines()), kind="text/plain")
        elif path.endswith("/models"):
            entry = {"id": endpoint.script.model or "scripted", "object": "model", "created": 0}
            self._reply(200, {"object": "list", "data": [{**entry, "owned_by": "scripted"}]})
        elif path in ("/", "/health") or path.endswith("/health"):
            self._reply(200, {"status": "ok"})
        else:
            self._reply(404, chat.error(404))

    def do_HEAD(self) -> None:
        """Some agents look first whether anybody is there."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        """Answer by the script."""
        path = self.path.partition("?")[0].rstrip("/")
        body = self._body()
        if body is None:
            return
        if path.endswith("/count_tokens"):
            self._reply(200, {"input_tokens": len(json.dumps(body)) // 4})
            return
        wire = next((wire for end, wire in PATHS.items() if path.endswith(end)), None)
        if wire is None:
            self._reply(404, chat.error(404))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        step, answer = self.server.endpoint.take(wire, headers, body)
        if step.wait:
            time.sleep(step.wait)
        if step.status is not None:
            self._reply(
                step.status, FORMATS[wire].error(step.status), more=dict(step.headers or {})
            )
        elif body.get("stream") is True:
            self._stream(step, FORMATS[wire].events(answer))
        else:
            self._whole(step, FORMATS[wire].whole(answer))

    def _body(self) -> dict[str, Any] | None:
        """Read the request; answer 400 to what is no JSON object."""
        try:
            size = int(self.headers.get("Content-Length", "0"))
            if not 0 <= size <= MAX_REQUEST:
                raise ValueError
            body = json.loads(self.rfile.read(size) or b"{}")
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict):
            return body
        self.close_connection = True
        self._reply(400, chat.error(400))
        return None

    def _reply(
        self, status: int, content: Any, *, kind: str = "application/json", more: Any = ()
    ) -> None:
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, **dict(more)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _whole(self, step: Step, body: Any) -> None:
        if not step.cut:
            self._reply(200, body, more=step.headers or {})
            return
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self._hang_up()

    def _stream(self, step: Step, events: list[tuple[str | None, Any]]) -> None:
        self.send_response(200)
        for name, value in (step.headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for place, (kind, data) in enumerate(events):
            if step.cut and place >= len(events) // 2:
                self._hang_up()
                return
            if step.pace and place:
                time.sleep(step.pace)
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            event = (f"event: {kind}\n" if kind else "") + f"data: {text}\n\n"
            self._chunk(event.encode())
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def scripted_endpoint(
    script: Script, *, work: str = "/work", port: int = 0, unix: Path | None = None
) -> Iterator[Endpoint]:
    """Serve a script on 127.0.0.1, or on the Unix socket `unix`; end with the block.

    Args:
        script: what is played.
        work: the work folder's path as the agent sees it, for tools that want whole paths.
        port: 0 for a free one.
        unix: path of a socket to make; removed at the end.

    Raises:
        BadInput: the port or the path is taken.
    """
    endpoint = Endpoint(script, work)
    server = _bound(port, unix)
    server.endpoint = endpoint
    endpoint.root = str(unix) if unix else f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        if unix is not None:
            unix.unlink(missing_ok=True)


def _bound(port: int, unix: Path | None) -> Any:
    try:
        if unix is not None:
            return _SocketServer(str(unix), _Handler)
        return _PortServer(("127.0.0.1", port), _Handler)
    except OSError as error:
        at = str(unix) if unix else f"port {port}"
        raise BadInput(f"{at}: cannot be served on ({error.strerror}); cure: another one") from None


def with_model(script: Script, model: str) -> Script:
    """Return a script in which every answer without a model of its own comes from `model`."""
    return replace(script, model=script.model or model)
