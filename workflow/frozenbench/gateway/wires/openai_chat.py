"""OpenAI chat completions: POST /v1/chat/completions."""

from __future__ import annotations

from collections.abc import Mapping
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

NAME = "openai-chat"
PATH = "/chat/completions"
LACKS: frozenset[str] = frozenset()

#: What endpoints call a request that is longer than the model's context.
_TOO_LONG = ("exceed_context_size_error", "context_length_exceeded")


def auth(key: str) -> dict[str, str]:
    """Return the headers that carry the endpoint's key."""
    return {"Authorization": f"Bearer {key}"}


def asked(request: Body) -> Asked:
    """Read a request."""
    return asked_in_messages(request, request.get("tools") or request.get("functions"))


def pinned(
    request: Body, model: str, temperature: float | None, seed: int | None
) -> dict[str, Any]:
    """Return the request with its pins, and with usage asked for where it is streamed."""
    new = {**request, "model": model}
    if temperature is not None:
        new["temperature"] = temperature
    if seed is not None:
        new["seed"] = seed
    if request.get("stream") is True:
        new["stream_options"] = {**mapping(request.get("stream_options")), "include_usage": True}
    return new


def message_of(response: Body) -> Mapping[str, Any] | None:
    """Return the first choice's message, or None."""
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def fault_of(response: Body) -> str | None:
    """Return why a whole response is no answer, or None."""
    return None if message_of(response) is not None else "holds no choices[0].message"


def text_of(response: Body) -> str:
    """Return what the model said in a whole response."""
    content = (message_of(response) or {}).get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def too_long(response: Body) -> str | None:
    """Return why the model cannot take the request at all, or None."""
    error = response.get("error")
    if not isinstance(error, dict):
        return None
    if error.get("type") not in _TOO_LONG and error.get("code") not in _TOO_LONG:
        return None
    return str(error.get("message") or "the request is longer than the model's context")


def use_of(response: Body) -> Use:
    """Return the tokens of a whole response; one that was too long cost nothing, which is known."""
    if too_long(response) is not None:
        return Use(total=0, input=0, output=0, cached=0)
    return _use(response.get("usage"))


def _use(usage: Any) -> Use:
    """Return the tokens of a `usage` object.

    `total_tokens` counts where it exceeds the two parts: some endpoints leave hidden reasoning
    out of `completion_tokens`.
    """
    if not isinstance(usage, dict):
        return Use()
    given, written = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    parts = added(given, written)
    sums = [value for value in (parts, count(usage.get("total_tokens"))) if value is not None]
    details = usage.get("prompt_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Use(total=max(sums, default=None), input=given, output=written, cached=cached)


def read(response: Body) -> Reading:
    """Read a whole response."""
    calls = 0
    for choice in items(response.get("choices")):
        message = mapping(choice.get("message"))
        calls += len(items(message.get("tool_calls"))) + isinstance(
            message.get("function_call"), dict
        )
    return Reading(
        tool_calls=calls,
        use=use_of(response),
        model=text(response.get("model")) or None,
        fault=fault_of(response),
    )


class _Reader:
    """Reads a stream of chunks; usage is that of the last chunk that has one.

    It is whole with its end mark, `[DONE]`, which the format demands; without one, where every
    choice has its `finish_reason` and usage was reported with or behind the last of them. Else
    what is missing was cut off, and a response without usage would make its cell unmetered.
    """

    def __init__(self) -> None:
        self._events = EventStream()
        self._calls = 0
        self._last_id: dict[tuple[Any, Any], str | None] = {}
        self._use = Use()
        self._model: str | None = None
        self._chunks = 0
        self._open: dict[str, bool] = {}
        self._marked = self._counted = False
        self._fault: str | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        for event in self._events.feed(data):
            if event.data.strip() == "[DONE]":
                self._marked = True
            elif (chunk := json_of(event.data)) is not None:
                self._chunk(chunk)

    def _chunk(self, chunk: Body) -> None:
        if chunk.get("error"):
            self._fault = f"holds an error: {told(chunk['error'])}"
        self._model = self._model or text(chunk.get("model")) or None
        for choice in items(chunk.get("choices")):
            self._chunks += 1
            place = str(choice.get("index"))
            ended = text(choice.get("finish_reason")) is not None
            self._open[place] = self._open.get(place, True) and not ended
            self._delta(choice.get("index"), mapping(choice.get("delta")))
        if (use := _use(chunk.get("usage"))) != Use():  # some end with an empty one
            self._use = use
            self._counted = not any(self._open.values())

    def _delta(self, choice: Any, delta: Body) -> None:
        for call in items(delta.get("tool_calls")):
            self._call((str(choice), str(call.get("index"))), text(call.get("id")) or None)
        if isinstance(delta.get("function_call"), dict):
            self._call((str(choice), "function_call"), None)

    def _call(self, place: tuple[str, str], identity: str | None) -> None:
        """Count a block once; some endpoints give whole blocks one index and ids of their own."""
        known = self._last_id.get(place)
        if place not in self._last_id or (identity and known and identity != known):
            self._calls += 1
        self._last_id[place] = identity or known

    def reading(self) -> Reading:
        """What was read so far."""
        fault = self._fault
        if fault is None and not self._chunks:
            fault = "holds no choices"
        ended = self._marked or (self._counted and not any(self._open.values()))
        if fault is None and not ended:
            fault = "is cut off"
        return Reading(self._calls, self._use, self._model, ended, fault)


def reader() -> _Reader:
    """Return a reader for one streamed response."""
    return _Reader()


_NO_USE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def final(model: str, text: str) -> dict[str, Any]:
    """Return a whole response that says `text`, asks for no tool and cost nothing."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-frozenbench",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": dict(_NO_USE),
    }


def final_stream(model: str, text: str) -> str:
    """Return the same as a stream."""
    head = {
        "id": "chatcmpl-frozenbench",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
    }

    def choice(delta: dict[str, str], end: str | None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    chunks = [
        choice({"role": "assistant", "content": text}, None),
        choice({}, "stop"),
        {**head, "choices": [], "usage": dict(_NO_USE)},
    ]
    return event_text(chunks, named=False) + "data: [DONE]\n\n"


def refusal(message: str) -> dict[str, Any]:
    """Return the body of an error."""
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    }
