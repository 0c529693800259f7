"""A real HTTP endpoint of the tests that speaks all three wire formats as its script says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-1"
WIRES = ("openai-chat", "openai-responses", "anthropic-messages")


@dataclass(frozen=True)
class Says:
    """One answer: tool calls (name, input), tokens (input, output), cached, and what is odd in it."""

    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    usage: tuple[int, int] | None = (10, 5)
    cached: int = 0
    model: str | None = MODEL
    cumulative: bool = False
    cut: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Status:
    """A refusal."""

    code: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Raw:
    """Bytes, whatever they are."""

    body: bytes


@dataclass(frozen=True)
class HangUp:
    """Nothing: the connection ends."""


Act = Says | Status | Raw | HangUp


def writes(path: str = "app.py", text: str = "x = 1\n") -> tuple[str, dict[str, Any]]:
    return "write", {"path": path, "text": text}


def sleeps(seconds: float) -> tuple[str, dict[str, Any]]:
    return "sleep", {"seconds": seconds}


NOTHING = ("say", {"text": "nothing"})


def whole(wire: str, says: Says, number: int) -> dict[str, Any]:
    """Return an answer as one body."""
    return {"openai-chat": _chat, "openai-responses": _responses, "anthropic-messages": _messages}[
        wire
    ](says, number)


def _without_none(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _chat(says: Says, number: int) -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for place, (name, given) in enumerate(says.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else "done"}
    if calls:
        message["tool_calls"] = calls
    end = "tool_calls" if calls else "stop"
    return _without_none(
        {
            "id": f"c{number}",
            "model": says.model,
            "choices": [{"index": 0, "message": message, "finish_reason": end}],
            "usage": _chat_usage(says),
        }
    )


def _chat_usage(says: Says) -> dict[str, Any] | None:
    if says.usage is None:
        return None
    given, written = says.usage
    return {
        "prompt_tokens": given,
        "completion_tokens": written,
        "total_tokens": given + written,
        "prompt_tokens_details": {"cached_tokens": says.cached},
    }


def _responses(says: Says, number: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": f"call_{number}_{place}",
            "name": name,
            "arguments": json.dumps(given),
        }
        for place, (name, given) in enumerate(says.calls)
    ]
    if not output:
        text = {"type": "output_text", "text": "done", "annotations": []}
        output = [{"type": "message", "id": "m", "role": "assistant", "content": [text]}]
    usage = None
    if says.usage is not None:
        given, written = says.usage
        usage = {
            "input_tokens": given,
            "output_tokens": written,
            "total_tokens": given + written,
            "input_tokens_details": {"cached_tokens": says.cached},
        }
    body = {"id": f"r{number}", "object": "response", "status": "completed", "model": says.model}
    return _without_none({**body, "output": output, "usage": usage})


def _messages(says: Says, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": given}
        for place, (name, given) in enumerate(says.calls)
    ] or [{"type": "text", "text": "done"}]
    body = {"id": f"m{number}", "type": "message", "role": "assistant", "model": says.model}
    usage = _messages_usage(says)
    end = "tool_use" if says.calls else "end_turn"
    return _without_none({**body, "content": content, "stop_reason": end, "usage": usage})


def _messages_usage(says: Says) -> dict[str, Any] | None:
    if says.usage is None:
        return None
    given, written = says.usage
    return {
        "input_tokens": given - says.cached,
        "cache_read_input_tokens": says.cached,
        "output_tokens": written,
    }


def streamed(wire: str, says: Says, number: int) -> list[dict[str, Any]]:
    """Return an answer as the events of a stream."""
    body = whole(wire, says, number)
    if wire == "openai-chat":
        return _chat_chunks(says, body)
    if wire == "openai-responses":
        begun = {**body, "status": "in_progress", "output": [], "usage": None}
        events = [{"type": "response.created", "response": begun}]
        for place, item in enumerate(body["output"]):
            events.append(
                {"type": "response.output_item.done", "output_index": place, "item": item}
            )
        return [*events, {"type": "response.completed", "response": body}]
    return _messages_events(says, body)


def _chat_chunks(says: Says, body: dict[str, Any]) -> list[dict[str, Any]]:
    head = _without_none({"id": body["id"], "model": says.model})
    message = body["choices"][0]["message"]
    chunks: list[dict[str, Any]] = []

    def chunk(delta: dict[str, Any], end: str | None = None) -> None:
        usage = None
        if says.cumulative and says.usage is not None:
            part = Says(usage=(says.usage[0], min(len(chunks), says.usage[1])))
            usage = _chat_usage(part)
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        chunks.append(_without_none({**head, "choices": [choice], "usage": usage}))

    chunk({"role": "assistant", "content": message["content"] or ""})
    for place, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        first = {"name": function["name"], "arguments": ""}
        chunk({"tool_calls": [{"index": place, "id": call["id"], "function": first}]})
        for piece in (function["arguments"][:5], function["arguments"][5:]):
            chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    chunk({}, body["choices"][0]["finish_reason"])
    if says.usage is not None:
        chunks.append({**head, "choices": [], "usage": _chat_usage(says)})
    return chunks


def _messages_events(says: Says, body: dict[str, Any]) -> list[dict[str, Any]]:
    usage = body.get("usage")
    begun = {**body, "content": [], "stop_reason": None}
    if usage is not None:
        begun["usage"] = {**usage, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for place, block in enumerate(body["content"]):
        start = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        events.append({"type": "content_block_start", "index": place, "content_block": start})
        delta = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_delta", "index": place, "delta": delta})
        events.append({"type": "content_block_stop", "index": place})
    end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}}
    if usage is not None:
        end["usage"] = {"output_tokens": usage["output_tokens"]}
        if says.cumulative:
            half = {**end, "usage": {"output_tokens": max(1, usage["output_tokens"] // 2)}}
            events.append(half)
    return [*events, end, {"type": "message_stop"}]


def stream_bytes(wire: str, events: list[dict[str, Any]]) -> bytes:
    """Return events as they stand on the wire."""
    lines = []
    for event in events:
        name = f"event: {event['type']}\n" if wire != "openai-chat" else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    return ("".join(lines) + ("data: [DONE]\n\n" if wire == "openai-chat" else "")).encode()


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes


@dataclass
class WireEndpoint:
    """What the server does next, else `always`; and what it was asked."""

    wire: str
    root: str
    script: list[Act]
    always: Act
    asked: list[Asked] = field(default_factory=list)
    answered: int = 0
    hooks: dict[int, Callable[[], None]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def after(self, number: int, call: Callable[[], None]) -> None:
        """Stop serving once `number` requests were answered, and call."""
        self.hooks[number] = call


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body, endpoint = json.loads(raw), self.server.endpoint
        with endpoint.guard:
            headers = {name.lower(): value for name, value in self.headers.items()}
            endpoint.asked.append(Asked(self.path, headers, body, raw))
            act = endpoint.script.pop(0) if endpoint.script else endpoint.always
            number = endpoint.answered
            endpoint.answered += isinstance(act, Says) and not act.cut
        if isinstance(act, Status):
            told = {"error": {"type": "x", "message": f"no {act.code}"}}
            body = act.body if act.body is not None else told
            refused = body if isinstance(body, bytes) else json.dumps(body).encode()
            self._reply(act.code, "application/json", refused, act.headers)
        elif isinstance(act, Raw):
            self._reply(200, "application/json", act.body)
        elif isinstance(act, HangUp):
            self.close_connection = True
        else:
            self._say(endpoint.wire, act, number, body.get("stream") is True)
        if (hook := endpoint.hooks.pop(len(endpoint.asked), None)) is not None:
            stop(self.server)
            self.close_connection = True
            hook()

    def _say(self, wire: str, says: Says, number: int, stream: bool) -> None:
        time.sleep(says.seconds)
        if not stream:
            data = json.dumps(whole(wire, says, number)).encode()
            if says.cut:
                self._begin(200, "application/json", len(data))
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
                return
            self._reply(200, "application/json", data)
            return
        data = stream_bytes(wire, streamed(wire, says, number))
        if says.cut:
            data = data[: len(data) * 2 // 3]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def _begin(self, code: int, kind: str, length: int, headers: Any = ()) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def _reply(self, code: int, kind: str, data: bytes, headers: Any = ()) -> None:
        self._begin(code, kind, len(data), headers)
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: WireEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def wire_endpoint(
    wire: str, *script: Act, always: Act = Says(), port: int = 0
) -> Iterator[WireEndpoint]:
    """Serve the script on a free port."""
    server = _Server(("127.0.0.1", port), _Handler)
    root = f"http://127.0.0.1:{server.server_port}"
    server.endpoint = WireEndpoint(wire, root, list(script), always)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.endpoint
    finally:
        stop(server)
        thread.join()


def stop(server: ThreadingHTTPServer) -> None:
    server.shutdown()
    server.server_close()
