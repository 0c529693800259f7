"""OpenAI responses: POST /v1/responses."""

from __future__ import annotations

from typing import Any

from frozenbench.adapters.contract import Use
from frozenbench.gateway.wires.reading import (
    Asked,
    Body,
    EventStream,
    Reading,
    added,
    count,
    event_text,
    items,
    json_of,
    mapping,
    runs_of,
    text,
    told,
)

NAME = "openai-responses"
PATH = "/responses"
LACKS: frozenset[str] = frozenset({"seed"})

#: How a response that is there in full may stand.
_WHOLE = ("completed", "incomplete")


def auth(key: str) -> dict[str, str]:
    """Return the headers that carry the endpoint's key."""
    return {"Authorization": f"Bearer {key}"}


def asked(request: Body) -> Asked:
    """Read a request."""
    given = request.get("input")
    parts = items(given)
    tools = request.get("tools")
    first = next((p.get("content") for p in parts if p.get("role") == "user"), None)
    return Asked(
        model=text(request.get("model")),
        stream=request.get("stream") is True,
        tools=tuple(tools) if isinstance(tools, list) else (),
        turns=runs_of(_of_the_model(part) for part in parts),
        opening=given if isinstance(given, str) else first,
    )


def _of_the_model(part: Body) -> bool:
    kind = str(part.get("type", "message"))
    return part.get("role") == "assistant" or kind == "reasoning" or is_call(kind)


def is_call(kind: Any) -> bool:
    """Tell whether an output item is a tool call: function_call, custom_tool_call, and so on."""
    return isinstance(kind, str) and kind.endswith("_call")


def pinned(
    request: Body, model: str, temperature: float | None, seed: int | None
) -> dict[str, Any]:
    """Return the request with its pins; the format has no seed."""
    new = {**request, "model": model}
    if temperature is not None:
        new["temperature"] = temperature
    return new


def _use(usage: Any) -> Use:
    if not isinstance(usage, dict):
        return Use()
    given, written = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    sums = (added(given, written), count(usage.get("total_tokens")))
    total = max((value for value in sums if value is not None), default=None)
    cached = count(mapping(usage.get("input_tokens_details")).get("cached_tokens"))
    return Use(total=total, input=given, output=written, cached=cached)


def read(response: Body) -> Reading:
    """Read a whole response."""
    output = response.get("output")
    fault = None
    if response.get("error"):
        fault = f"holds an error: {told(response['error'])}"
    elif not isinstance(output, list):
        fault = "holds no output"
    elif response.get("status", "completed") not in _WHOLE:
        fault = f"has status {str(response['status'])[:40]!r}"
    return Reading(
        tool_calls=sum(is_call(item.get("type")) for item in items(output)),
        use=_use(response.get("usage")),
        model=text(response.get("model")) or None,
        fault=fault,
    )


class _Reader:
    """Reads a stream of events; the last one holds the response as a whole."""

    def __init__(self) -> None:
        self._events = EventStream()
        self._calls: set[str] = set()
        self._model: str | None = None
        self._whole: Reading | None = None
        self._fault: str | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        for event in self._events.feed(data):
            if (body := json_of(event.data)) is not None:
                self._event(str(body.get("type") or event.name), body)

    def _event(self, kind: str, body: Body) -> None:
        response = body.get("response")
        if isinstance(response, dict):
            self._model = text(response.get("model")) or self._model or None
        if kind in ("response.output_item.added", "response.output_item.done"):
            if is_call(mapping(body.get("item")).get("type")):
                self._calls.add(str(body.get("output_index")))
        elif kind in ("response.completed", "response.incomplete"):
            # What the items told is kept: some endpoints leave the output out here.
            whole = mapping(response)
            self._whole = read({"output": [], **whole, "error": None})
        elif kind == "response.failed":
            self._fault = f"failed: {told(mapping(response).get('error'))}"
        elif kind == "error":
            self._fault = f"holds an error: {told(body.get('error') or body)}"

    def reading(self) -> Reading:
        """What was read so far."""
        whole = self._whole
        if whole is None:
            return Reading(len(self._calls), Use(), self._model, False, self._fault or "is cut off")
        calls = max(len(self._calls), whole.tool_calls)
        return Reading(calls, whole.use, whole.model or self._model, True, self._fault)


def reader() -> _Reader:
    """Return a reader for one streamed response."""
    return _Reader()


def _message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "id": "msg_frozenbench",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def final(model: str, text: str) -> dict[str, Any]:
    """Return a whole response that says `text`, asks for no tool and cost nothing."""
    return {
        "id": "resp_frozenbench",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "model": model,
        "output": [_message(text)],
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
    }


def final_stream(model: str, text: str) -> str:
    """Return the same as a stream."""
    whole, message = final(model, text), _message(text)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    part = message["content"][0]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**message, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **place, "delta": text},
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": whole},
    ]
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    return event_text(numbered, named=True)


def refusal(message: str) -> dict[str, Any]:
    """Return the body of an error."""
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    }
