from __future__ import annotations

from typing import Any

import pytest
from frozenbench.adapters.contract import Use
from frozenbench.canonical import BadInput
from frozenbench.gateway.wire import model_of, wire_of
from hypothesis import given
from record_entries import JSON, OBJECTS

CHAT = wire_of("openai-chat")


@pytest.mark.parametrize(
    ("usage", "use"),
    [
        (None, Use()),
        ({}, Use()),
        ("12", Use()),
        ({"prompt_tokens": 3, "completion_tokens": 4}, Use(7, 3, 4, None)),
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, Use(7, 3, 4, None)),
        # hidden reasoning in the total alone
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 90}, Use(90, 3, 4, None)),
        ({"total_tokens": 7}, Use(7, None, None, None)),
        ({"prompt_tokens": 3}, Use(None, 3, None, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, Use()),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 2},
            },
            Use(7, 3, 4, 2),
        ),
        (
            {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": None},
            Use(0, 0, 0, None),
        ),
    ],
)
def test_tokens_as_reported_and_unknown_never_0(usage: Any, use: Use) -> None:
    body = {} if usage is None else {"usage": usage}
    assert CHAT.use(body) == use


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "a"}, "a"),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}]}, "ab"),
    ],
)
def test_what_the_model_said(message: Any, text: str) -> None:
    body = {"choices": [{"message": message}]}
    assert CHAT.fault(body) is None
    assert CHAT.text(body) == text


@pytest.mark.parametrize("field", ["type", "code"])
def test_a_request_that_is_too_long_cost_nothing(field: str) -> None:
    name = {"type": "exceed_context_size_error", "code": "context_length_exceeded"}[field]
    body = {"error": {"message": "3031 tokens are too many", field: name}}
    assert CHAT.refusal(body) == "3031 tokens are too many"
    assert CHAT.use(body) == Use(0, 0, 0, 0)


@given(OBJECTS, JSON)
def test_no_body_whatever_breaks_the_reading(body: dict[str, Any], value: Any) -> None:
    for shape in (
        body,
        {"choices": value, "usage": value, "error": value, "model": value},
        {"choices": [value], "usage": {"prompt_tokens_details": value, "total_tokens": value}},
        {"choices": [{"message": {"content": value}}], "error": {"type": value, "code": value}},
    ):
        assert isinstance(CHAT.text(shape), str)
        assert CHAT.fault(shape) is None or isinstance(CHAT.fault(shape), str)
        assert isinstance(CHAT.use(shape), Use)
        assert isinstance(model_of(shape), str | None)


def test_an_unknown_wire_names_those_that_exist() -> None:
    with pytest.raises(BadInput, match="wire: is 'smoke'; cure: one of: openai-chat"):
        wire_of("smoke")
