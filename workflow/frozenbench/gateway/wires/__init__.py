"""The wire formats that agents and endpoints speak, each one module of pure functions."""

from __future__ import annotations

from frozenbench.canonical import BadInput
from frozenbench.gateway.wires import anthropic_messages, openai_chat, openai_responses
from frozenbench.gateway.wires.reading import (
    Asked,
    Event,
    EventStream,
    Reader,
    Reading,
    WireFormat,
)

__all__ = [
    "FORMATS",
    "Asked",
    "Event",
    "EventStream",
    "Reader",
    "Reading",
    "WireFormat",
    "format_of",
    "read_stream",
]

FORMATS: dict[str, WireFormat] = {
    openai_chat.NAME: openai_chat,
    openai_responses.NAME: openai_responses,
    anthropic_messages.NAME: anthropic_messages,
}


def format_of(name: str) -> WireFormat:
    """Return a wire format by its name in an agent's file.

    Raises:
        BadInput: there is none of this name.
    """
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(sorted(FORMATS))
        raise BadInput(f"endpoint: wire: is {name!r}; cure: one of: {known}") from None


def read_stream(wire: WireFormat, data: bytes) -> Reading:
    """Read a whole stream; its last event counts also where no empty line ends it."""
    reader = wire.reader()
    reader.feed(data)
    reader.feed(b"\n\n")
    return reader.reading()
