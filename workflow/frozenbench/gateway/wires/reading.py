"""What all wire formats share: what is read of a request and of a response, and SSE in pieces."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from frozenbench.adapters.contract import Use

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a request asks for.

    Attributes:
        model: the model that the agent named, or None.
        stream: whether it wants its response as a stream.
        tools: the tools that it offers, as it describes them.
        turns: answers of a model that it holds: its ordinal within its conversation.
        opening: the first thing that a user says in it: what tells conversations of a cell apart.
    """

    model: str | None
    stream: bool
    tools: tuple[Any, ...]
    turns: int
    opening: Any


@dataclass(frozen=True)
class Reading:
    """What a response says.

    Attributes:
        tool_calls: tool-call blocks in it.
        use: tokens as the endpoint reports them; None where it does not.
        model: the model name that it states, or None.
        complete: it was read to its own end.
        fault: why it is no answer, or None.
    """

    tool_calls: int = 0
    use: Use = Use()
    model: str | None = None
    complete: bool = True
    fault: str | None = None


class Reader(Protocol):
    """Reads one streamed response as it comes."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""

    def reading(self) -> Reading:
        """What was read so far; `complete` tells whether the response ended as it should."""


class WireFormat(Protocol):
    """One wire format: pure functions of plain JSON, no I/O."""

    #: its name in an agent's file
    NAME: str
    #: address of a request below the version part of an endpoint's root
    PATH: str
    #: pins that a request of this format has no field for
    LACKS: frozenset[str]

    def auth(self, key: str) -> dict[str, str]:
        """Return the headers that carry the endpoint's key."""

    def asked(self, request: Body) -> Asked:
        """Read a request; whatever is not of its form counts as absent."""

    def pinned(
        self, request: Body, model: str, temperature: float | None, seed: int | None
    ) -> dict[str, Any]:
        """Return the request with the pins written in; None leaves the agent's own value."""

    def read(self, response: Body) -> Reading:
        """Read a whole response."""

    def reader(self) -> Reader:
        """Return a reader for one streamed response."""

    def final(self, model: str, text: str) -> dict[str, Any]:
        """Return a whole response that says `text`, asks for no tool and cost nothing."""

    def final_stream(self, model: str, text: str) -> str:
        """Return the same as a stream."""

    def refusal(self, message: str) -> dict[str, Any]:
        """Return the body of an error."""


@dataclass(frozen=True)
class Event:
    """One server-sent event: its name (empty where none was given) and its data."""

    name: str
    data: str


class EventStream:
    """Server-sent events out of bytes that come in any pieces.

    Lines end with LF or CRLF, as all endpoints send them. An event that no empty line ends is none.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        found = (self._line(line.removesuffix(b"\r").decode("utf-8", "replace")) for line in lines)
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            event = Event(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None


def json_of(text: str) -> Body | None:
    """Return the JSON object in the data of an event, or None where it holds none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def load_finite(text: str) -> Any:
    """Return JSON that can be written again.

    Raises:
        ValueError: it is none, or holds NaN or a number beyond all floats, which JSON cannot say.
        RecursionError: it is nested too deeply.
    """

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            raise ValueError(f"{text[:20]} is beyond all numbers")
        return value

    return json.loads(text, parse_constant=refuse, parse_float=number)


def event_text(events: Iterable[Body], *, named: bool) -> str:
    """Return events as a stream's text; `named` puts their type before them."""
    lines = []
    for event in events:
        head = f"event: {event['type']}\n" if named else ""
        lines.append(f"{head}data: {json.dumps(event, separators=(',', ':'))}\n\n")
    return "".join(lines)


#: Beyond it a number of tokens is none: the tables hold sums of them as int64.
_MOST = 2**53


def count(value: Any) -> int | None:
    """Return a reported number of tokens; None for anything that is not one, never 0."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST:
        return value
    return None


def text(value: Any) -> str | None:
    """Return a value that is text, else None."""
    return value if isinstance(value, str) else None


def mapping(value: Any) -> Body:
    """Return a value that is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Body]:
    """Return the objects of a value that is a list, else none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def added(*parts: int | None) -> int | None:
    """Return a sum of which every part is known, else None."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def told(error: Any) -> str:
    """Return what an error object says, in one short text."""
    if isinstance(error, dict):
        message = error.get("message") or error.get("type") or error.get("code")
        return str(message)[:300]
    return str(error)[:300]


def runs_of(made_by_model: Iterable[bool]) -> int:
    """Count the unbroken runs of parts that a model made: each was one answer."""
    before, count_ = False, 0
    for now in made_by_model:
        count_ += now and not before
        before = now
    return count_


def asked_in_messages(request: Body, tools: Any) -> Asked:
    """Read a request whose conversation is a list of `messages`."""
    messages = items(request.get("messages"))
    first = next((m.get("content") for m in messages if m.get("role") == "user"), None)
    return Asked(
        model=text(request.get("model")),
        stream=request.get("stream") is True,
        tools=tuple(tools) if isinstance(tools, list) else (),
        turns=runs_of(message.get("role") == "assistant" for message in messages),
        opening=first,
    )
