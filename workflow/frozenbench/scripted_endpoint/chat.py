"""Answers in the format of OpenAI chat completions."""

from __future__ import annotations

from typing import Any

from frozenbench.scripted_endpoint.answer import CREATED, Answer, pieces
from frozenbench.scripted_endpoint.script import Tokens

Json = dict[str, Any]
DONE = "[DONE]"


def usage(tokens: Tokens) -> Json:
    """Return the use as this format reports it: cached input is part of the input."""
    given = tokens.input + tokens.cached
    return {
        "prompt_tokens": given,
        "completion_tokens": tokens.output,
        "total_tokens": given + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }


def whole(answer: Answer) -> Json:
    """Return an answer that is not streamed."""
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": answer.call_id(place),
                "type": "function",
                "function": {"name": call.name, "arguments": answer.arguments(call)},
            }
            for place, call in enumerate(answer.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer)}
    body = {**_head(answer, "chat.completion"), "choices": [choice]}
    return body if answer.usage == "missing" else {**body, "usage": usage(answer.tokens)}


def events(answer: Answer) -> list[tuple[str | None, Any]]:
    """Return the events of a streamed answer: (name, data)."""
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces(answer.text)]
    for place, call in enumerate(answer.calls):
        head = {"id": answer.call_id(place), "type": "function"}
        function = {"name": call.name, "arguments": ""}
        deltas.append({"tool_calls": [{"index": place, **head, "function": function}]})
        deltas += [
            {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}
            for piece in pieces(answer.arguments(call))
        ]
    chunks = [_chunk(answer, [{"index": 0, "delta": d, "finish_reason": None}]) for d in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": _reason(answer)}
    chunks.append(_chunk(answer, [end]))
    if answer.usage == "cumulative":
        for part, chunk in enumerate(chunks, 1):
            chunk["usage"] = usage(answer.so_far(part, len(chunks)))
    elif answer.usage == "once" and answer.asked_for_usage:
        chunks.append({**_chunk(answer, []), "usage": usage(answer.tokens)})
    return [*((None, chunk) for chunk in chunks), (None, DONE)]


def error(status: int) -> Json:
    """Return the body of an error."""
    kind = "rate_limit_exceeded" if status == 429 else "server_error"
    if status < 500 and status != 429:
        kind = "invalid_request_error"
    return {"error": {"message": f"scripted {status}", "type": kind, "code": kind}}


def _head(answer: Answer, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": CREATED,
        "model": answer.model,
    }


def _chunk(answer: Answer, choices: list[Json]) -> Json:
    return {**_head(answer, "chat.completion.chunk"), "choices": choices}


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"
