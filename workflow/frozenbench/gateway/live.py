"""A live request of an agent program: sent until it is answered in full, streamed or not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from frozenbench.gateway import transport
from frozenbench.gateway.exchange import Live
from frozenbench.gateway.upstream import (
    TRY_AGAIN,
    Call,
    Fault,
    Lost,
    Patience,
    insist,
    parse,
    retry_after,
    secret_of,
    told,
)
from frozenbench.gateway.wires import Reading, WireFormat, read_stream

#: An agent behind the gateway is long at work, and its endpoint is not ours to start again: it is
#: waited for longer than for the answers of a single call.
PATIENCE = Patience(tries=9, seconds=90.0)
#: What an endpoint may say of a request itself.
REFUSED = (400, 413, 422)
#: What some endpoints say with such a status, and no other request would help: money or key.
_OF_THE_ACCOUNT = re.compile(
    r"credit balance|billing|quota|insufficient[ _](?:balance|credits?|funds)|api[ _-]?key", re.I
)


def call(
    wire: WireFormat,
    *,
    address: Callable[[str], str],
    reach: Callable[[], AbstractContextManager[str]],
    key_env: str | None,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    line: transport.Line,
    lost: Lost | None = None,
) -> Call:
    """Return a request ready to be sent, with the endpoint's key; fields keep their order."""
    own = {"Content-Type": "application/json", **headers}
    if wire.NAME == "anthropic-messages":
        own.setdefault("anthropic-version", "2023-06-01")
    if key_env is not None:
        own |= wire.auth(secret_of(key_env))
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return Call(address, own, raw, key_env, reach, line.post, lost)


def ask(
    wire: WireFormat, call: Call, stream: bool, remaining: float, log: Callable[[str], None]
) -> Live:
    """Return what the endpoint answers: {"sse": text}, a whole body, or {"status", "body"}.

    Raises: as `upstream.ask_upstream` does.
    """

    def judge(reply: transport.Reply) -> tuple[Mapping[str, Any], str | None]:
        if reply.status != 200:
            return _refused(reply), None
        streamed = "text/event-stream" in reply.headers.get("content-type", "")
        if stream and (streamed or b"data:" in reply.body[:4096]):
            return _streamed(wire, reply.body)
        return _whole(wire, reply)

    (response, model), seconds, failed = insist(call, judge, remaining, log, PATIENCE)
    return Live(response, seconds, model, failed)


def _refused(reply: transport.Reply) -> Mapping[str, Any]:
    """Return a refusal that is the agent's to read; raise Fault for any other status."""
    try:
        body = parse(reply.body)
    except ValueError:
        body = {}
    ours = _OF_THE_ACCOUNT.search(told(body, reply.body)) is not None
    if reply.status in REFUSED and body and not ours:
        return {"status": reply.status, "body": body}
    again = reply.status >= 500 or reply.status in TRY_AGAIN
    raise Fault(
        f"status {reply.status}: {told(body, reply.body)}",
        retry_after(reply.headers),
        final=not again,
    )


def _streamed(wire: WireFormat, raw: bytes) -> tuple[Mapping[str, Any], str | None]:
    # Stored as text, and read as it is stored: a replay must read the same.
    text = raw.decode("utf-8", "replace")
    reading = read_stream(wire, text.encode())
    _sound(reading)
    return {"sse": text}, reading.model


def _whole(wire: WireFormat, reply: transport.Reply) -> tuple[Mapping[str, Any], str | None]:
    try:
        body = parse(reply.body)
    except ValueError as error:
        raise Fault(f"the answer is not JSON ({error})") from None
    reading = wire.read(body)
    _sound(reading)
    return body, reading.model


def _sound(reading: Reading) -> None:
    if reading.fault is not None:
        raise Fault(f"the answer {reading.fault}")
