"""One agent program's way to its model: its requests frozen and pinned, its responses read.

What a request becomes before it is forwarded, and what is known of a response before it is
delivered, stand here; what the budget makes of both stands in `frozenbench.run`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from frozenbench.adapters.contract import Cell, EndpointDown, PinDrift, Served, Use
from frozenbench.canonical import digest
from frozenbench.gateway.disk import Disk
from frozenbench.gateway.exchange import Live, answered, way_to
from frozenbench.gateway.frozen_text import Freezer, unkeyed
from frozenbench.gateway.record import canonical_request
from frozenbench.gateway.seed import request_seed
from frozenbench.gateway.transport import Line
from frozenbench.gateway.wire import address
from frozenbench.gateway.wires import Asked, Reading, WireFormat, format_of, read_stream
from frozenbench.gateway.wires.reading import load_finite

#: Headers of an agent's request that say what its body means.
FORWARDED = ("anthropic-version", "anthropic-beta", "openai-beta")


@dataclass(frozen=True)
class Prepared:
    """A request as it is forwarded.

    Attributes:
        body: the request, frozen, with its pins.
        asked: what it asks for.
        keyed: what its record key is made of.
        canonical: digest of that without its occurrence: equal for a body that is sent again.
        headers: the agent's headers that go with it.
    """

    body: Mapping[str, Any]
    asked: Asked
    keyed: Mapping[str, Any]
    canonical: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """A response that is there in full and was not delivered yet.

    Attributes:
        status: HTTP status.
        body: its bytes as the agent gets them.
        streamed: whether they are a stream of events.
        reading: what it says.
        served: where it came from.
    """

    status: int
    body: bytes
    streamed: bool
    reading: Reading
    served: Served


class NotJson(Exception):
    """An agent's request is no JSON object."""


def parse_request(raw: bytes) -> dict[str, Any]:
    """Return an agent's request as JSON that can be keyed and stored.

    Raises:
        NotJson: it is no JSON object, or holds NaN or a number without end.
    """
    try:
        body = load_finite(raw.decode("utf-8", "replace"))
        if not isinstance(body, dict):
            raise NotJson("the request is no JSON object")
        if b"\\ud" in raw or b"\\uD" in raw:  # it may hold halves of characters, which no text can
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            body = json.loads(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise NotJson(f"the request is no JSON ({error})") from None
    found: dict[str, Any] = body
    return found


class Session:
    """The requests of one cell, in the order in which they are answered."""

    def __init__(self, cell: Cell) -> None:
        sheet = cell.sheet
        self.cell = cell
        self.endpoint: Mapping[str, Any] = sheet["endpoint"]
        self.format: WireFormat = format_of(self.endpoint["wire"])
        own = [cell.prompt, *(f.data.decode("utf-8", "replace") for f in cell.fixture.values())]
        self.freezer = Freezer.of_this_machine(own)
        self.answered: Counter[str] = Counter()
        self.requests = 0
        self.accepted: bool | None = None
        self.line = Line()
        self.disk = Disk()

    def hang_up(self) -> None:
        """Ask no more, and wait for no answer that is under way."""
        self.line.end()

    def close(self) -> None:
        """Wait until every new answer is on the disk."""
        self.disk.wait()

    @property
    def pins(self) -> dict[str, Any]:
        """What is written into requests, what cannot be, and whether the endpoint took it."""
        written = {"model": self.endpoint["model"]}
        unpinned = []
        for name in ("temperature", "seed"):
            if name in self.cell.sheet and name not in self.format.LACKS:
                written[name] = self.cell.sheet[name]
            else:
                unpinned.append(name)
        return {"written": written, "unpinned": unpinned, "accepted": self.accepted}

    def prepare(self, raw: bytes, headers: Mapping[str, str]) -> Prepared:
        """Return a request as it is forwarded next.

        Raises:
            NotJson: it is no JSON object.
        """
        given = parse_request(raw)
        try:
            return self._prepared(given, headers)
        except RecursionError:  # some depths can be read and not be worked on
            raise NotJson("the request is nested too deeply") from None

    def _prepared(self, given: Mapping[str, Any], headers: Mapping[str, str]) -> Prepared:
        sheet = self.cell.sheet
        base = sheet.get("seed")
        seed = None if base is None else request_seed(base, self.cell.repeat, self.requests)
        frozen = self.freezer.frozen(given)
        body = self.format.pinned(frozen, self.endpoint["model"], sheet.get("temperature"), seed)
        keyed = unkeyed(canonical_request(body))
        return Prepared(
            body=body,
            asked=self.format.asked(body),
            keyed=keyed,
            canonical=digest(keyed),
            headers={name: headers[name] for name in FORWARDED if name in headers},
        )

    def ask(self, prepared: Prepared) -> Answer:
        """Return the response to a request, from the record or from the endpoint.

        Raises: as `exchange.answered` does, and PinDrift where another model answered.
        """
        occurrence = self.answered[prepared.canonical]
        stored, served = answered(
            self.cell,
            prepared.keyed,
            occurrence,
            lambda left, lost: self._live(prepared, left, lost),
            self.disk.sync,
        )
        self.answered[prepared.canonical] += 1
        self.requests += 1
        answer = _answer(self.format, stored, served)
        if answer.status == 200:
            self.accepted = True
        return answer

    def _check_model(self, found: Live) -> None:
        observed, pinned = found.model, self.endpoint["model"]
        if observed is not None and observed != pinned:
            raise PinDrift(
                f"the endpoint answered as {observed!r}, pinned is {pinned!r}; cure: pin the model "
                "that it serves now, which makes a new experiment",
                observed,
                found.response,
            )

    def _live(self, prepared: Prepared, remaining: float, lost: Callable[[bytes], None]) -> Live:
        # Only a cell that asks pays for this import: one that is served starts faster.
        from frozenbench.gateway import live

        key_env = self.cell.connection.get("endpoint", {}).get("key_env")
        call = live.call(
            self.format,
            address=lambda root: address(root, "/v1", self.format.PATH),
            reach=way_to(self.cell),
            key_env=key_env,
            headers=prepared.headers,
            body=prepared.body,
            line=self.line,
            lost=lost,
        )
        found = live.ask(self.format, call, prepared.asked.stream, remaining, self.cell.log)
        self._check_model(found)
        if (pin := self._refused_pin(found.response)) is not None:
            self.accepted = False
            raise EndpointDown(
                f"the endpoint does not take {pin}, which is pinned; cure: leave {pin} out of the "
                "agent's file"
            )
        return found

    def _refused_pin(self, stored: Mapping[str, Any]) -> str | None:
        """Return the pinned field that a refused request is about, or None."""
        body = stored.get("body") if "status" in stored else None
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict):
            return None
        param, message = error.get("param"), str(error.get("message"))
        for name in sorted(self.pins["written"].keys() - {"model"}):
            # Where no field is named, as in every error of Anthropic's, its text tells which it is.
            if param == name or (not param and re.search(rf"\b{name}\b", message)):
                return str(name)
        return None


def _answer(wire: WireFormat, stored: Mapping[str, Any], served: Served) -> Answer:
    """Return a stored response as the agent gets it, read anew: a replay meters as a run did."""
    if "sse" in stored:
        raw = str(stored["sse"]).encode()
        return Answer(200, raw, True, read_stream(wire, raw), served)
    if "status" in stored and isinstance(stored.get("body"), dict):
        # What was refused cost nothing, which is known.
        nothing = Reading(use=Use(0, 0, 0, 0), complete=True, fault="was refused")
        body = json.dumps(stored["body"], ensure_ascii=False).encode()
        return Answer(int(stored["status"]), body, False, nothing, served)
    reading = wire.read(stored)
    body = json.dumps(stored, ensure_ascii=False).encode()
    return Answer(200, body, False, replace(reading, complete=True), served)


def tools_digest(tools: tuple[Any, ...]) -> str:
    """Return the SHA-256 of the tools that a request offers."""
    return digest(list(tools))
