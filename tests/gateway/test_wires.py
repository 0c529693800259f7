"""The three wire formats as pure functions: any cut of a stream, any malformed input, every pin."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from frozenbench.adapters.contract import Use
from frozenbench.canonical import BadInput
from frozenbench.gateway.wires import FORMATS, Reading, WireFormat, format_of, read_stream
from frozenbench.gateway.wires.reading import EventStream
from hypothesis import given
from hypothesis import strategies as st
from record_entries import JSON, OBJECTS, TEXT
from wire_endpoint import MODEL, NOTHING, WIRES, Says, stream_bytes, streamed, whole, writes

wires = pytest.mark.parametrize("wire", WIRES)

SAYS = st.builds(
    Says,
    calls=st.lists(st.sampled_from([NOTHING, writes(), writes("é\u2028.py", "\n\r\n")])).map(tuple),
    usage=st.none() | st.tuples(st.integers(50, 10**6), st.integers(2, 10**6)),
    cached=st.integers(0, 50),
    cumulative=st.booleans(),
    model=st.just(MODEL),
)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


def read_in(form: WireFormat, parts: list[bytes]) -> Reading:
    reader = form.reader()
    for part in parts:
        reader.feed(part)
    return reader.reading()


@wires
@given(says=SAYS, cuts=st.lists(st.integers(0, 10**6)), crlf=st.booleans())
def test_any_cut_of_a_stream_reads_as_the_whole(
    wire: str, says: Says, cuts: list[int], crlf: bool
) -> None:
    form = format_of(wire)
    data = stream_bytes(wire, streamed(wire, says, 0))
    if crlf:
        data = data.replace(b"\n", b"\r\n")
    once = read_in(form, [data])
    assert read_in(form, pieces(data, cuts)) == once
    assert once.complete
    assert once.fault is None


@wires
@given(says=SAYS)
def test_a_stream_says_what_the_whole_says(wire: str, says: Says) -> None:
    form = format_of(wire)
    by_stream = read_stream(form, stream_bytes(wire, streamed(wire, says, 0)))
    at_once = form.read(whole(wire, says, 0))
    assert by_stream == at_once
    assert at_once.tool_calls == len(says.calls)
    assert at_once.model == MODEL
    if says.usage is None:
        assert at_once.use == Use()
    else:
        assert at_once.use == Use(sum(says.usage), *says.usage, says.cached)


END = b"data: [DONE]\n\n"


@wires
@given(says=SAYS, cut=st.integers(0, 10**6))
def test_a_stream_that_was_cut_is_never_taken_for_whole(wire: str, says: Says, cut: int) -> None:
    form = format_of(wire)
    events = streamed(wire, says, 0)
    data = stream_bytes(wire, events)
    needed = data
    if wire == "openai-chat" and says.usage is not None:
        # The end mark may be lost, and no usage: with the last chunk of all that report it.
        needed = stream_bytes(wire, events[: -1 if says.cumulative else None]).removesuffix(END)
    least = len(needed.rstrip(b"\n"))  # the last event counts also where no empty line ends it
    reading = read_stream(form, data[: cut % least])
    assert not reading.complete
    assert reading.fault is not None
    assert read_stream(form, data[:least]).complete


@wires
@given(data=st.binary(), cuts=st.lists(st.integers(0, 10**6)))
def test_bytes_that_are_no_stream_are_no_exception(wire: str, data: bytes, cuts: list[int]) -> None:
    form = format_of(wire)
    assert read_in(form, pieces(data, cuts)) == read_in(form, [data])


FIELDS = [
    "type",
    "choices",
    "delta",
    "tool_calls",
    "index",
    "id",
    "usage",
    "model",
    "content_block",
    "message",
    "content",
    "output",
    "item",
    "response",
    "output_index",
    "error",
    "input_tokens",
    "output_tokens",
    "prompt_tokens",
    "role",
    "finish_reason",
    "status",
]
KINDS = [
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "error",
    "response.completed",
    "response.failed",
    "response.output_item.done",
    "response.incomplete",
    "tool_use",
    "function_call",
]
ODD = st.recursive(
    JSON | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=12,
)


@wires
@given(events=st.lists(ODD, max_size=5))
def test_events_of_no_known_form_are_no_exception(wire: str, events: list[Any]) -> None:
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    reading = read_stream(format_of(wire), data)
    assert reading.use.total is None or reading.use.total >= 0


@wires
@given(body=st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=6))
def test_bodies_of_no_known_form_are_no_exception(wire: str, body: dict[str, Any]) -> None:
    form = format_of(wire)
    assert form.read(body).tool_calls >= 0
    form.asked(body)
    form.pinned(body, "m", 0.5, 1)


@wires
@given(request=OBJECTS, temperature=st.none() | st.floats(0, 2), seed=st.none() | st.integers(0))
def test_pins_change_the_pinned_fields_and_no_other(
    wire: str, request: dict[str, Any], temperature: float | None, seed: int | None
) -> None:
    form = format_of(wire)
    new = form.pinned(request, MODEL, temperature, seed)
    pins = {"model": MODEL, "temperature": temperature, "seed": seed}
    for name in set(new) | set(request):
        if name in pins and pins[name] is not None and name not in form.LACKS:
            assert new[name] == pins[name]
        elif name != "stream_options":
            assert new.get(name) == request.get(name)


def test_usage_is_asked_for_in_a_streamed_chat() -> None:
    form = format_of("openai-chat")
    given_ = {"stream": True, "stream_options": {"x": 1, "include_usage": False}}
    new = form.pinned(given_, MODEL, None, None)
    assert new["stream_options"] == {"x": 1, "include_usage": True}
    assert "stream_options" not in form.pinned({}, MODEL, None, None)


@wires
@given(text=TEXT)
def test_a_soft_stop_is_a_whole_answer_that_cost_nothing(wire: str, text: str) -> None:
    form = format_of(wire)
    body = form.read(form.final(MODEL, text))
    stream = read_stream(form, form.final_stream(MODEL, text).encode())
    assert body == stream
    assert (body.tool_calls, body.use.total, body.model, body.fault) == (0, 0, MODEL, None)
    assert json.dumps(text)[1:-1] in form.final_stream(MODEL, text)


@wires
def test_a_request_is_read(wire: str) -> None:
    form = format_of(wire)
    said = {"role": "user", "content": "hello"}
    name = "input" if wire == "openai-responses" else "messages"
    answer: list[Any] = [{"role": "assistant", "content": "x"}]
    if wire == "openai-responses":
        answer = [{"type": "reasoning"}, {"type": "function_call"}, {"type": "custom_tool_call"}]
    for turns in range(3):
        body = {"model": "m", "stream": turns > 0, "tools": [{"name": "t"}]}
        asked = form.asked({**body, name: [{"role": "system"}, said, *([*answer, said] * turns)]})
        assert (asked.model, asked.stream, asked.turns) == ("m", turns > 0, turns)
        assert asked.opening == "hello"
        assert asked.tools == ({"name": "t"},)
    assert form.asked({}).tools == ()


BLOCKS = [
    ("openai-chat", {"choices": [{"message": {"function_call": {}}}]}, 1),
    ("openai-chat", {"choices": [{"message": {"tool_calls": [{}, {}]}}] * 2}, 4),
    ("openai-chat", {"choices": [{"message": {"tool_calls": None}}]}, 0),
    ("openai-responses", {"output": [{"type": "local_shell_call"}, {"type": "message"}]}, 1),
    ("openai-responses", {"output": [{"type": "web_search_call"}]}, 1),
    ("anthropic-messages", {"content": [{"type": "server_tool_use"}, {"type": "text"}]}, 1),
    ("anthropic-messages", {"content": [{"type": "web_search_tool_result"}]}, 0),
]


@pytest.mark.parametrize(("wire", "body", "calls"), BLOCKS)
def test_what_counts_as_a_tool_call(wire: str, body: dict[str, Any], calls: int) -> None:
    assert format_of(wire).read(body).tool_calls == calls


def chat_stream(*calls: dict[str, Any]) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return stream_bytes("openai-chat", [*chunks, end])


def ended(*chunks: dict[str, Any], mark: bool = False) -> str | None:
    """Return the fault of a chat stream of these chunks."""
    data = stream_bytes("openai-chat", list(chunks))
    return read_stream(format_of("openai-chat"), data if mark else data.removesuffix(END)).fault


def test_when_a_chat_stream_is_whole() -> None:
    says = {"choices": [{"index": 0, "delta": {"content": "x"}}]}
    other = {"choices": [{"index": 1, "delta": {"content": "y"}}]}
    stops = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    counted = {"choices": [], "usage": usage}
    assert ended(says, mark=True) is None, "some endpoints give no finish_reason"
    assert ended(says, stops, mark=True) is None, "no usage: its cell is unmetered"
    assert ended(says, stops, counted) is None, "some endpoints send no end mark"
    assert ended(says, {**stops, "usage": usage}) is None
    assert ended(says, stops) == "is cut off", "what it used is still to come"
    assert ended({**says, "usage": usage}, stops) == "is cut off", "a number that goes on"
    assert ended(says, other, stops, counted) == "is cut off", "another choice goes on"
    assert ended({**says, "usage": usage}) == "is cut off"


def test_whole_calls_of_one_index_are_told_apart_by_their_ids() -> None:
    one = {"index": 0, "id": "a"}, {"index": 0}, {"index": 0, "id": ""}
    two = {"index": 0, "id": "a"}, {"index": 0, "id": "b"}
    assert read_stream(format_of("openai-chat"), chat_stream(*one)).tool_calls == 1
    assert read_stream(format_of("openai-chat"), chat_stream(*two)).tool_calls == 2


ERRORS = [
    ("openai-chat", [{"error": {"message": "overloaded"}}]),
    ("openai-responses", [{"type": "response.failed", "response": {"error": {"message": "x"}}}]),
    ("openai-responses", [{"type": "error", "message": "x"}]),
    ("anthropic-messages", [{"type": "error", "error": {"type": "overloaded_error"}}]),
]


@pytest.mark.parametrize(("wire", "events"), ERRORS)
def test_an_error_in_a_stream_is_a_fault(wire: str, events: list[dict[str, Any]]) -> None:
    assert read_stream(
        format_of(wire), stream_bytes(wire, [*events, *streamed(wire, Says(), 0)])
    ).fault


def test_the_input_of_anthropic_is_the_sum_of_its_parts() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 50,
        "cache_creation_input_tokens": 7,
        "output_tokens": 2,
    }
    body = {"content": [], "usage": usage}
    assert format_of("anthropic-messages").read(body).use == Use(62, 60, 2, 50, cache_write=7)


def test_a_stream_without_a_last_count_has_no_output() -> None:
    events = [e for e in streamed(WIRES[2], Says(), 0) if e["type"] != "message_delta"]
    assert read_stream(format_of(WIRES[2]), stream_bytes(WIRES[2], events)).use.total is None


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": None}, None])
def test_an_empty_usage_at_the_end_takes_nothing_back(usage: Any) -> None:
    events = streamed("openai-chat", Says(usage=(10, 5)), 0)
    events.append({"choices": [], "usage": usage})
    read = read_stream(format_of("openai-chat"), stream_bytes("openai-chat", events))
    assert read.use.total == 15


def test_an_unknown_wire_is_named() -> None:
    with pytest.raises(BadInput, match=r"smoke.*anthropic-messages"):
        format_of("smoke")
    assert set(FORMATS) == set(WIRES)


def test_events_by_name_and_of_several_lines() -> None:
    stream = EventStream()
    (event,) = stream.feed(b": comment\nevent: x\ndata: a\ndata:b\nid: 1\n\n")
    assert (event.name, event.data) == ("x", "a\nb")
    assert stream.feed(b"event: y\n\n") == []
