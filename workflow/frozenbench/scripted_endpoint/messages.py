"""Answers in the format of Anthropic messages."""

from __future__ import annotations

from typing import Any

from frozenbench.scripted_endpoint.answer import Answer, pieces
from frozenbench.scripted_endpoint.script import Tokens

Json = dict[str, Any]
Event = tuple[str | None, Any]


def usage(tokens: Tokens) -> Json:
    """Return the use as this format reports it: cached input stands apart from the input."""
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
    }


def whole(answer: Answer) -> Json:
    """Return an answer that is not streamed; broken arguments are a text instead of an object."""
    blocks: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    for place, call in enumerate(answer.calls):
        given = answer.arguments(call) if answer.broken else call.arguments
        blocks.append({**_call(answer, place), "input": given})
    body = {**_head(answer), "content": blocks, "stop_reason": _reason(answer)}
    return body if answer.usage == "missing" else {**body, "usage": usage(answer.tokens)}


def events(answer: Answer) -> list[Event]:
    """Return the events of a streamed answer: (name, data)."""
    start = {**_head(answer), "content": [], "stop_reason": None}
    if answer.usage != "missing":
        start["usage"] = usage(Tokens(answer.tokens.input, 1, answer.tokens.cached))
    found: list[Json] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    blocks: list[tuple[Json, list[Json]]] = []
    if answer.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(answer.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for place, call in enumerate(answer.calls):
        parts = pieces(answer.arguments(call))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
        blocks.append(({**_call(answer, place), "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        for delta in deltas:
            found.append({"type": "content_block_delta", "index": index, "delta": delta})
        found.append({"type": "content_block_stop", "index": index})
        if answer.usage == "cumulative":
            so_far = answer.so_far(index + 1, len(blocks) + 1)
            found.append(_delta(None, so_far))
    found.append(_delta(_reason(answer), None if answer.usage == "missing" else answer.tokens))
    found.append({"type": "message_stop"})
    return [(str(event["type"]), event) for event in found]


def error(status: int) -> Json:
    """Return the body of an error."""
    kind = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}
    return {
        "type": "error",
        "error": {"type": kind.get(status, "api_error"), "message": f"scripted {status}"},
    }


def _delta(reason: str | None, tokens: Tokens | None) -> Json:
    event: Json = {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
    }
    return event if tokens is None else {**event, "usage": usage(tokens)}


def _head(answer: Answer) -> Json:
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _call(answer: Answer, place: int) -> Json:
    call = answer.calls[place]
    return {"type": "tool_use", "id": f"toolu_{answer.number}_{place}", "name": call.name}


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.calls else "end_turn"
