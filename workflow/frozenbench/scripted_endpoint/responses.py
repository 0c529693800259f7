"""Answers in the format of OpenAI responses."""

from __future__ import annotations

from typing import Any

from frozenbench.scripted_endpoint import chat
from frozenbench.scripted_endpoint.answer import CREATED, Answer, pieces
from frozenbench.scripted_endpoint.intents import Asked
from frozenbench.scripted_endpoint.script import Tokens

Json = dict[str, Any]
Event = tuple[str | None, Any]
error = chat.error


def usage(tokens: Tokens) -> Json:
    """Return the use as this format reports it: cached input is part of the input."""
    given = tokens.input + tokens.cached
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + tokens.output,
    }


def whole(answer: Answer) -> Json:
    """Return an answer that is not streamed."""
    items = [_message(answer, answer.text)] if answer.text else []
    items += [_call(answer, place, call) for place, call in enumerate(answer.calls)]
    body = {**_head(answer, "completed"), "output": items}
    return body if answer.usage == "missing" else {**body, "usage": usage(answer.tokens)}


def events(answer: Answer) -> list[Event]:
    """Return the events of a streamed answer: (name, data), numbered."""
    begun = {**_head(answer, "in_progress"), "output": []}
    if answer.usage == "cumulative":
        begun["usage"] = usage(answer.so_far(1, 2))
    found: list[tuple[str, Json]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
    ]
    place = 0
    if answer.text:
        found += _text_events(answer)
        place = 1
    for number, call in enumerate(answer.calls):
        found += _call_events(answer, number, call, place + number)
    found.append(("response.completed", {"response": whole(answer)}))
    return [
        (name, {"type": name, "sequence_number": number, **data})
        for number, (name, data) in enumerate(found)
    ]


def _text_events(answer: Answer) -> list[tuple[str, Json]]:
    item = _message(answer, answer.text)
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    opened = {**item, "status": "in_progress", "content": []}
    return [
        ("response.output_item.added", {"output_index": 0, "item": opened}),
        ("response.content_part.added", {**at, "part": empty}),
        *(("response.output_text.delta", {**at, "delta": piece}) for piece in pieces(answer.text)),
        ("response.output_text.done", {**at, "text": answer.text}),
        ("response.content_part.done", {**at, "part": item["content"][0]}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
    ]


def _call_events(answer: Answer, number: int, call: Asked, place: int) -> list[tuple[str, Json]]:
    item = _call(answer, number, call)
    free = isinstance(call.arguments, str)
    field, name = (
        ("input", "custom_tool_call_input") if free else ("arguments", "function_call_arguments")
    )
    at = {"item_id": item["id"], "output_index": place}
    opened = {**item, "status": "in_progress", field: ""}
    text = item[field]
    return [
        ("response.output_item.added", {"output_index": place, "item": opened}),
        *((f"response.{name}.delta", {**at, "delta": piece}) for piece in pieces(text)),
        (f"response.{name}.done", {**at, field: text}),
        ("response.output_item.done", {"output_index": place, "item": item}),
    ]


def _head(answer: Answer, status: str) -> Json:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": answer.model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _message(answer: Answer, text: str) -> Json:
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _call(answer: Answer, place: int, call: Asked) -> Json:
    free = isinstance(call.arguments, str)
    item = {
        "id": f"fc_{answer.number}_{place}",
        "type": "custom_tool_call" if free else "function_call",
        "status": "completed",
        "call_id": answer.call_id(place),
        "name": call.name,
        "input" if free else "arguments": answer.arguments(call),
    }
    return item if call.namespace is None else {**item, "namespace": call.namespace}
