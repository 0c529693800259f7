"""Anthropic messages: POST /v1/messages."""

from __future__ import annotations

from typing import Any

from frozenbench.adapters.contract import Use
from frozenbench.gateway.wires.reading import (
    Asked,
    Body,
    EventStream,
    Reading,
    added,
    asked_in_messages,
    count,
    event_text,
    items,
    json_of,
    mapping,
    text,
    told,
)

NAME = "anthropic-messages"
PATH = "/messages"
LACKS: frozenset[str] = frozenset({"seed"})

#: Fields of `usage` that together are the input; the last two may be absent.
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def auth(key: str) -> dict[str, str]:
    """Return the headers that carry the endpoint's key."""
    return {"x-api-key": key}


def asked(request: Body) -> Asked:
    """Read a request."""
    return asked_in_messages(request, request.get("tools"))


def pinned(
    request: Body, model: str, temperature: float | None, seed: int | None
) -> dict[str, Any]:
    """Return the request with its pins; the format has no seed."""
    new = {**request, "model": model}
    if temperature is not None:
        new["temperature"] = temperature
    return new


def is_call(kind: Any) -> bool:
    """Tell whether a content block is a tool call: tool_use, server_tool_use, mcp_tool_use."""
    return isinstance(kind, str) and kind.endswith("tool_use")


def _use(usage: Body) -> Use:
    """Return the tokens of a `usage` object; its split changes with the cache, its sum does not."""
    parts = [count(usage.get(name)) for name in _INPUT]
    given = None if parts[0] is None else sum(part or 0 for part in parts)
    written = count(usage.get("output_tokens"))
    return Use(added(given, written), given, written, cached=parts[1], cache_write=parts[2])


def read(response: Body) -> Reading:
    """Read a whole response."""
    content = response.get("content")
    fault = None
    if response.get("type") == "error" or response.get("error"):
        fault = f"holds an error: {told(response.get('error'))}"
    elif not isinstance(content, list):
        fault = "holds no content"
    return Reading(
        tool_calls=sum(is_call(block.get("type")) for block in items(content)),
        use=_use(mapping(response.get("usage"))),
        model=text(response.get("model")) or None,
        fault=fault,
    )


class _Reader:
    """Reads a stream of events; of each number of tokens the last report counts, once."""

    def __init__(self) -> None:
        self._events = EventStream()
        self._calls: set[str] = set()
        self._usage: dict[str, Any] = {}
        self._model: str | None = None
        self._begun = self._ended = self._counted = False
        self._fault: str | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        for event in self._events.feed(data):
            if (body := json_of(event.data)) is not None:
                self._event(str(body.get("type") or event.name), body)

    def _event(self, kind: str, body: Body) -> None:
        if kind == "message_start":
            message = mapping(body.get("message"))
            self._begun = True
            self._model = text(message.get("model")) or None
            self._note(message.get("usage"))
            for place, block in enumerate(items(message.get("content"))):
                self._block(place, block)
        elif kind == "content_block_start":
            self._block(body.get("index"), mapping(body.get("content_block")))
        elif kind == "message_delta":
            if count(mapping(body.get("usage")).get("output_tokens")) is not None:
                self._counted = True
            self._note(body.get("usage"))
        elif kind == "message_stop":
            self._ended = True
        elif kind == "error":
            self._fault = f"holds an error: {told(body.get('error'))}"

    def _block(self, place: Any, block: Body) -> None:
        if is_call(block.get("type")):
            self._calls.add(str(place))

    def _note(self, usage: Any) -> None:
        known = {name: value for name, value in mapping(usage).items() if count(value) is not None}
        self._usage |= known

    def reading(self) -> Reading:
        """What was read so far."""
        usage = dict(self._usage)
        if not self._counted:  # what a stream begins with is a place-holder
            usage.pop("output_tokens", None)
        fault = self._fault
        if fault is None and not (self._begun and self._ended):
            fault = "is cut off"
        return Reading(len(self._calls), _use(usage), self._model, self._ended, fault)


def reader() -> _Reader:
    """Return a reader for one streamed response."""
    return _Reader()


def final(model: str, text: str) -> dict[str, Any]:
    """Return a whole response that says `text`, asks for no tool and cost nothing."""
    return {
        "id": "msg_frozenbench",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def final_stream(model: str, text: str) -> str:
    """Return the same as a stream."""
    message = {**final(model, ""), "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 0},
        },
        {"type": "message_stop"},
    ]
    return event_text(events, named=True)


def refusal(message: str) -> dict[str, Any]:
    """Return the body of an error."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
