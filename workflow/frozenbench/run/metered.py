"""What the budget makes of an agent behind the gateway: its requests, its responses, its tree.

A step is what an agent does between two of its requests: its tree is looked at when a request
comes, and once more when it has ended. What is decided when:

- ASK, at a request: is there anything left (tokens, clock), was the last change one too many?
- RECEIVE, at its response: does it fit (tool calls, tokens, clock)? Else it is withheld whole.
- SETTLE, between requests: did the clock fall while the agent worked by itself? That step is not
  part of the artifact, like a proposal that came too late; so a replay, which lets the clock fall
  at the same event, ends with the same tree.

Nothing here is safe for threads, or knows of HTTP: `gateway_loop` holds a lock around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from frozenbench.adapters.contract import Cell, PinDrift, Served
from frozenbench.canonical import File, tree_digest
from frozenbench.gateway.exchange import spend_of
from frozenbench.gateway.session import Answer, Prepared, tools_digest
from frozenbench.run import meters as metering
from frozenbench.run.loop import ASK, POINTS, RECEIVE, SETTLE, Ended, Step
from frozenbench.run.meters import Meters

Tree = Mapping[str, File]
Emit = Callable[[dict[str, Any]], None]
Take = Callable[[], tuple[Tree, str | None, str | None]]

#: In a replay no clock falls but where the record says; an agent that hangs is ended after this
#: many times its cap.
REPLAY_PATIENCE = 10

_USE = ("total", "input", "output", "cached")


@dataclass(frozen=True)
class Stop:
    """Why a run is over; `at` is monotonic, s; `at_once`: the agent has nothing more to hear."""

    ending: str
    hits: tuple[str, ...]
    message: str
    at: float
    at_once: bool


@dataclass
class Counts:
    """What happened at the gateway, by number."""

    requests: int = 0
    retransmissions: int = 0
    refused: int = 0
    aside: int = 0


class Metered:
    """The budget of one run, and what was used of it.

    Args:
        cell: whose run it is.
        start: its meters at the beginning.
        emit: takes an event of the trace.
        forced: the event at which the record lets the clock fall, or None.
        take: gives the work tree as it stands, the limit of an artifact that it passes, and its
            digest; of a tree that passes a limit the digest is of all of it, None: unknown.
    """

    def __init__(
        self, cell: Cell, start: Meters, emit: Emit, forced: int | None, take: Take
    ) -> None:
        self.cell, self.caps, self.clock = cell, cell.caps, cell.clock
        self.emit, self.forced, self.take = emit, forced, take
        self.meters = start
        self.counts = Counts()
        self.stop: Stop | None = None
        self.infra_retries = 0
        self.observed: str | None = None
        self._tree: Tree = dict(cell.fixture)
        self._digest: str | None = tree_digest(cell.fixture)
        self._kept: str | None = self._digest
        self._steps: list[Step] = []
        self._served: list[Served] = []
        self._clock_event: int | None = None
        self._artifact_limit = False
        self._tools: str | None = None
        self._spend: float | None = None
        self._currency: str | None = None

    def at_request(self, prepared: Prepared) -> bool:
        """Take in the last step; tell whether the request may go on, else a cap was hit.

        Raises:
            PinDrift: it offers other tools than the pinned ones.
        """
        index = self.counts.requests
        self.counts.requests += 1
        late = self._fell(index, ASK) or self._fell(index - 1, SETTLE) or self.clock_fell()
        hits = self._look(late) | ({"wall_clock"} if late else set())
        hits |= set(metering.before_request(self.meters, self.caps, 0.0, proposals=False))
        asked = prepared.asked
        event = {"request": index, "turns": asked.turns, "stream": asked.stream}
        self.emit({"event": "request", **event, "sha256": prepared.canonical})
        if hits:
            self.hit(metering.ordered(hits), ASK)
            return False
        self._check_tools(prepared)
        if self._fell(index, RECEIVE):
            self.hit(("wall_clock",), RECEIVE)
            return False
        return True

    def at_response(self, answer: Answer) -> bool:
        """Count a response; tell whether it is delivered, else a cap was hit and it is withheld."""
        self._account(answer)
        reading = answer.reading
        told = {
            "request": self.counts.requests - 1,
            "status": answer.status,
            "tool_calls": reading.tool_calls,
            "use": {name: getattr(reading.use, name) for name in _USE},
            "response": answer.served.key,
            "recorded": answer.served.recorded,
            "model": reading.model,
        }
        if answer.status != 200:
            # The endpoint's own word on a request that it does not take: no response of a model.
            self.emit({"event": "endpoint_refused", **told})
            return True
        hits = metering.on_response(self.meters, reading.use, self.caps, 0.0, reading.tool_calls)
        if hits:
            self.meters = metering.withheld(self.meters, reading.use)
            self.emit({"event": "withheld", **told})
            self.hit(hits, RECEIVE)
            return False
        self.meters = metering.delivered(self.meters, reading.use, reading.tool_calls)
        self.emit({"event": "response", **told})
        return True

    def at_end(self) -> None:
        """Take in what the agent did after its last response, and decide how it ended by itself."""
        if not self.meters.model_calls:
            self.over("crashed", message="it ended without one response")
            return
        late = self._fell(self.counts.requests - 1, SETTLE) or self.clock_fell()
        hits = self._look(late) | ({"wall_clock"} if late else set())
        if hits:
            self.hit(metering.ordered(hits), SETTLE)
            return
        try:
            self._check_pinned(self._tools or tools_digest(()))
        except PinDrift as error:
            self.over("pin_drift", message=str(error))
            return
        self.over("finished")

    def clock_fell(self) -> bool:
        """Tell whether the seconds on the clock passed their cap."""
        seconds = self.clock.elapsed()
        if self.cell.replay:
            seconds /= REPLAY_PATIENCE
        return bool(metering.clock_hits(self.caps, seconds))

    def hit(self, hits: tuple[str, ...], point: int) -> None:
        """A cap was hit: note which, at which measured values, and where the clock decided."""
        if hits[0] == "wall_clock":
            self._clock_event = max(0, self.counts.requests - 1) * POINTS + point
        measured = {**self.meters.as_dict(), "seconds": round(self.clock.elapsed(), 6)}
        self.emit({"event": "hit", "hits": list(hits), "measured": measured})
        self.over(f"cap:{hits[0]}", hits)

    def over(
        self, ending: str, hits: tuple[str, ...] = (), message: str = "", at_once: bool = False
    ) -> None:
        """Note why the run is over; what came first decides."""
        if self.stop is None:
            self.stop = Stop(ending, hits, message, time.monotonic(), at_once)

    def ended(self, gateway: Mapping[str, Any]) -> Ended:
        """Return how the run ended; `gateway` is what else was seen of it."""
        assert self.stop is not None
        self.emit({"event": "end", "ending": self.stop.ending, "hits": list(self.stop.hits)})
        return Ended(
            ending=self.stop.ending,
            hits=self.stop.hits,
            steps=tuple(self._steps),
            meters=self.meters,
            seconds=self.clock.elapsed(),
            served=tuple(self._served),
            infra_retries=self.infra_retries,
            clock_event=self._clock_event,
            artifact_limit=self._artifact_limit,
            observed_model=self.observed or (self._served[-1].model if self._served else None),
            spend=self._spend,
            currency=self._currency,
            message=self.stop.message,
            gateway={**vars(self.counts), "tools_sha256": self._tools, **gateway},
        )

    def _fell(self, index: int, point: int) -> bool:
        """Tell whether the record says that the clock fell at this event."""
        return self.forced is not None and self.forced == index * POINTS + point

    def _look(self, late: bool) -> set[str]:
        """Look at the work tree; count and keep what changed, unless the clock fell meanwhile."""
        tree, limit, found = self.take()
        self._artifact_limit = limit is not None
        # What nobody can tell counts as changed: a heap of files hides no edits.
        changed = found is None or found != self._digest
        if limit is not None:
            self.emit({"event": "artifact_limit", "note": limit, "changed": changed})
        hits = set(metering.on_change(self.meters, self.caps)) if changed else set()
        if changed and (hits or late):
            self.emit({"event": "change_left_out", "step": len(self._steps) + 1})
            return hits
        if changed:
            self.meters = metering.changed(self.meters)
            self._digest = found
        if limit is None:
            self._keep(tree, found)
        return hits

    def _keep(self, tree: Tree, found: str | None) -> None:
        """Keep a tree that can be an artifact as the step's, whatever was seen and not kept before."""
        changed = found != self._kept
        if changed:
            self._tree, self._kept = tree, found
        if changed or self.counts.requests > 1:
            step = Step(
                len(self._steps) + 1, self._tree, changed, self.meters, self.clock.elapsed()
            )
            self._steps.append(step)
            self.emit({"event": "step", "step": step.index, "changed": changed, "tree": found})

    def _check_tools(self, prepared: Prepared) -> None:
        """Note the tools of the first request that offers any."""
        tools = prepared.asked.tools
        if self._tools is not None or not tools:
            return
        self._tools = tools_digest(tools)
        self.emit({"event": "tools", "sha256": self._tools, "number": len(tools)})
        self._check_pinned(self._tools)

    def _check_pinned(self, found: str) -> None:
        pinned = self.cell.sheet.get("tool_schema_sha256")
        if pinned not in (None, found):
            raise PinDrift(
                f"tool_schema_sha256: the tools that it offers have {found}, pinned is {pinned}; "
                "cure: pin what it offers now, which makes a new experiment",
                self.cell.sheet["endpoint"]["model"],
            )

    def _account(self, answer: Answer) -> None:
        """Note what a response cost, whether it is delivered or withheld: it was paid."""
        self._served.append(answer.served)
        self.infra_retries += answer.served.infra_retries
        if answer.served.drift is not None:
            self.emit({"event": "drift", **answer.served.drift})
        spend, currency = spend_of(self.cell, answer.reading.use)
        if spend is not None:
            self._spend, self._currency = (self._spend or 0.0) + spend, currency
