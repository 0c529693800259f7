"""A client of the three wire formats that reads raw bytes: what was really sent is what counts."""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages",
}
WIRES = tuple(PATHS)

_SHELL = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "description": {"type": "string"}},
    "required": ["command", "description"],
}
_WRITE = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["file_path", "content"],
}
TOOLS = {"Shell": _SHELL, "Save": _WRITE}


@dataclass
class Got:
    """An answer: status and body, or the events of a stream and whether it came to its end."""

    status: int
    body: Any = None
    events: list[tuple[str, Any]] = field(default_factory=list)
    ended: bool = True
    headers: dict[str, str] = field(default_factory=dict)


def tools(wire: str, names: tuple[str, ...] = ("Shell", "Save")) -> list[dict[str, Any]]:
    """Return tools as a request of this wire format offers them."""
    if wire == "openai-chat":
        return [
            {"type": "function", "function": {"name": name, "parameters": TOOLS[name]}}
            for name in names
        ]
    if wire == "openai-responses":
        return [{"type": "function", "name": name, "parameters": TOOLS[name]} for name in names]
    return [{"name": name, "input_schema": TOOLS[name]} for name in names]


def request(wire: str, *, stream: bool = False, offer: bool = True, **more: Any) -> dict[str, Any]:
    """Return a request of a wire format."""
    said = [{"role": "user", "content": "Write it."}]
    body: dict[str, Any] = {"model": "asked-1", "stream": stream}
    body["input" if wire == "openai-responses" else "messages"] = said
    if offer:
        body["tools"] = tools(wire)
    if stream and wire == "openai-chat":
        body["stream_options"] = {"include_usage": True}
    return {**body, **more}


def post(root: str, wire: str, body: Any, path: str | None = None) -> Got:
    """Send a request and read its answer to the end, or to where the endpoint hung up."""
    connection = http.client.HTTPConnection(urlsplit(root).netloc, timeout=20)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    connection.request("POST", path or PATHS[wire], data, headers)
    return _read(connection.getresponse())


def post_by_socket(path: str, wire: str, body: Any) -> Got:
    """Send a request over a Unix socket."""
    connection = http.client.HTTPConnection("localhost", timeout=20)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(path)
    connection.request("POST", PATHS[wire], json.dumps(body).encode())
    return _read(connection.getresponse())


def get(root: str, path: str) -> Got:
    """Ask for a path."""
    connection = http.client.HTTPConnection(urlsplit(root).netloc, timeout=20)
    connection.request("GET", path)
    response = connection.getresponse()
    return Got(response.status, response.read().decode())


def _read(response: http.client.HTTPResponse) -> Got:
    got = Got(response.status, headers={k.lower(): v for k, v in response.getheaders()})
    data = b""
    try:
        while piece := response.read1():
            data += piece
    except (http.client.IncompleteRead, ConnectionError):
        got.ended = False
    length = response.getheader("Content-Length")
    if length is not None and len(data) < int(length):
        got.ended = False
    if "event-stream" not in (response.getheader("Content-Type") or ""):
        got.body = json.loads(data) if got.ended else data
        return got
    for block in data.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in lines:
            text = lines["data"]
            got.events.append(
                (lines.get("event", ""), text if text == "[DONE]" else json.loads(text))
            )
    return got


def read_answer(wire: str, got: Got) -> tuple[str, list[tuple[str, str]], Any, str]:
    """Return text, calls (name, arguments as text), usage and model of a whole or streamed answer."""
    body = got.body if got.body is not None else _assembled(wire, got)
    if wire == "openai-chat":
        message = body["choices"][0]["message"]
        calls = [
            (c["function"]["name"], c["function"]["arguments"])
            for c in message.get("tool_calls") or []
        ]
        return message.get("content") or "", calls, body.get("usage"), body["model"]
    if wire == "openai-responses":
        text = "".join(
            part["text"]
            for item in body["output"]
            if item["type"] == "message"
            for part in item["content"]
        )
        calls = [
            (i["name"], i.get("arguments", i.get("input")))
            for i in body["output"]
            if i["type"].endswith("_call")
        ]
        return text, calls, body.get("usage"), body["model"]
    text = "".join(part["text"] for part in body["content"] if part["type"] == "text")
    calls = [
        (p["name"], p["input"] if isinstance(p["input"], str) else json.dumps(p["input"]))
        for p in body["content"]
        if p["type"] == "tool_use"
    ]
    return text, calls, body.get("usage"), body["model"]


def _assembled(wire: str, got: Got) -> dict[str, Any]:
    if wire == "openai-chat":
        return _chat(got)
    if wire == "openai-responses":
        items = [e["item"] for _, e in got.events if e["type"] == "response.output_item.done"]
        last = got.events[-1][1]["response"]
        assert last["output"] == items, "the last event repeats what the items told"
        return dict(last)
    return _messages(got)


def _chat(got: Got) -> dict[str, Any]:
    text, calls, usage, model = "", {}, None, ""
    for _, event in got.events:
        if event == "[DONE]":
            continue
        model, usage = event["model"], event.get("usage") or usage
        for choice in event["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            for call in delta.get("tool_calls") or []:
                known = calls.setdefault(call["index"], {"name": "", "arguments": ""})
                for key, value in call["function"].items():
                    known[key] += value
    made = [{"function": calls[index]} for index in sorted(calls)]
    message = {"content": text, "tool_calls": made}
    return {"choices": [{"message": message}], "usage": usage, "model": model}


def _messages(got: Got) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    usage: dict[str, Any] = {}
    model = ""
    for _, event in got.events:
        kind = event["type"]
        if kind == "message_start":
            model = event["message"]["model"]
            usage |= event["message"].get("usage") or {}
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"], raw="")
        elif kind == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            else:
                block["raw"] += delta["partial_json"]
        elif kind == "message_delta":
            usage |= event.get("usage") or {}
    for block in blocks.values():
        if block["type"] == "tool_use":
            block["input"] = block["raw"]
    content = [blocks[index] for index in sorted(blocks)]
    return {"content": content, "usage": usage or None, "model": model}
