"""The loop of an agent behind the gateway: its process, its requests, its soft stop and its end.

The main thread watches the process and the clock; another answers the agent's requests, one after
the other. After a hit nothing goes upstream and no change counts: the agent gets one soft stop in
its own wire format, then errors that it does not retry, and is ended before HARD_STOP_SECONDS have
passed, its whole process tree.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from frozenbench.adapters.contract import Cell, ClockFell, EndpointDown, PinDrift
from frozenbench.canonical import File, canonical_json
from frozenbench.gateway.server import Job, Reply, Request, Server
from frozenbench.gateway.session import NotJson, Prepared, Session
from frozenbench.gateway.side_routes import is_model_request, side_reply
from frozenbench.gateway.transport import HungUp
from frozenbench.run.loop import RECEIVE, SETTLE, Ended
from frozenbench.run.metered import Emit, Metered
from frozenbench.run.meters import Meters
from frozenbench.sandbox import Ended as Exited
from frozenbench.sandbox import oom_kills

#: After a hit the agent is left this long, s; it is gone within 5 s (PROTOCOL 4), also where a busy
#: machine takes its time to end a large process tree.
HARD_STOP_SECONDS = 4.0
#: How often clock and limits are looked at, s.
TICK_SECONDS = 0.05

#: What was under way at the end is cut, and paid for: this long is waited until that is noted, s.
LAST_WORD_SECONDS = 1.0

SOFT_STOP = "The budget of this run is used up. Nothing more can be done."
REFUSAL = "the budget of this run is used up"
NO_RETRY = (("x-should-retry", "false"),)


class Program(Protocol):
    """An agent program: started once, ended for good."""

    @property
    def socket(self) -> Path:
        """Where the gateway must listen."""

    def start(self) -> None:
        """Start it."""

    def wait(self, seconds: float) -> Exited | None:
        """Wait for its end; None where it has not come within `seconds`."""

    def end(self) -> Exited:
        """End its whole process tree."""

    def take(self) -> tuple[Mapping[str, File], str | None, str | None]:
        """Return its work tree, the limit of an artifact that it passes, and the tree's digest."""


class GatewayLoop:
    """Runs one agent program on one task. Not reusable."""

    def __init__(
        self,
        cell: Cell,
        program: AbstractContextManager[Program],
        start: Meters,
        emit: Emit,
        forced_clock_event: int | None = None,
    ) -> None:
        self.cell, self.clock, self.emit = cell, cell.clock, emit
        self.session = Session(cell)
        self.metered = Metered(cell, start, emit, forced_clock_event, lambda: self._program.take())
        self._opened = program
        self._program: Program
        self._start: Callable[[], None]
        self._lock = threading.RLock()
        self._started = self._soft_stopped = self._over = False
        self._failure: BaseException | None = None

    def run(self, start: Callable[[], None]) -> Ended:
        """Let the program work until it ends by itself, a cap is hit, or something breaks.

        Args:
            start: starts the clock, called at the first model request.

        Raises:
            BadInput: the endpoint's key is not set, or the program is not what was frozen.
        """
        self._start = start
        before = oom_kills()
        with self._opened as program:
            self._program = program
            server = Server(program.socket, self._is_queued, self._answer, self._aside, self._again)
            with server:
                program.start()
                exited = self._watch(time.monotonic())
            self.session.hang_up()
            server.join(LAST_WORD_SECONDS)
            self.session.close()
            with self._lock:
                if self._failure is not None:
                    raise self._failure
                if self.metered.stop is None:
                    self._ended_by_itself(exited, oom_kills() > before)
                status = {"exit_status": exited.exit_status, "signal": exited.signal}
                return self.metered.ended({"pins": self.session.pins, **status})

    # the main thread

    def _watch(self, began: float) -> Exited:
        """Wait for the program's end, or bring it about."""
        while True:
            exited = self._program.wait(TICK_SECONDS)
            with self._lock:
                if exited is None and not self._must_end(began):
                    continue
                self._over = True
            return self._program.end() if exited is None else exited

    def _must_end(self, began: float) -> bool:
        metered, now = self.metered, time.monotonic()
        if self._failure is not None:
            return True
        if metered.stop is None and not self._started:
            if now - began > self.cell.startup_timeout_s:
                told = f"no model request within {self.cell.startup_timeout_s:g} s"
                metered.over("startup_timeout", message=told, at_once=True)
        elif metered.stop is None and metered.clock_fell():
            metered.hit(("wall_clock",), SETTLE)
        if metered.stop is None:
            return False
        return metered.stop.at_once or now >= metered.stop.at + HARD_STOP_SECONDS

    def _ended_by_itself(self, exited: Exited, no_memory: bool) -> None:
        """Decide how a program ended that nobody ended."""
        if exited.resource_limit is not None:
            self.metered.over("resource_limit", message=exited.resource_limit)
        elif exited.signal == 9 and no_memory:
            told = "the system ended the program for want of memory"
            self.metered.over("killed", message=told)
        else:
            self.metered.at_end()

    # the gateway's threads

    def _is_queued(self, request: Request) -> bool:
        return is_model_request(self.session.format, request.method, request.path)

    def _aside(self, request: Request) -> Reply:
        status, body = side_reply(
            self.session.format,
            request.method,
            request.path,
            request.body,
            self.session.endpoint["model"],
        )
        with self._lock:
            if not self._over:
                self.metered.counts.aside += 1
                path = request.path.partition("?")[0][:200]
                self.emit({"event": "aside", "path": path, "status": status})
        return Reply(status, canonical_json(body), headers=NO_RETRY if status >= 400 else ())

    def _again(self) -> None:
        with self._lock:
            if not self._over:
                self.metered.counts.retransmissions += 1
                self.emit({"event": "retransmission"})

    def _answer(self, job: Job) -> Reply | None:
        """Answer one model request; None where the run is over."""
        try:
            with self._lock:
                if self._over:
                    return None
                if not self._started:
                    self._started = True
                    self._start()
            with self.clock.paused():
                prepared = self.session.prepare(job.request.body, job.request.headers)
                return self._turn(prepared)
        except NotJson as error:
            return self._no(str(error))
        except HungUp:  # the run is over
            return None
        except EndpointDown as error:
            self.metered.infra_retries += error.infra_retries
            return self._broken("endpoint_down", error)
        except PinDrift as error:
            self.metered.observed = error.observed
            return self._broken("pin_drift", error)
        except BaseException as error:
            self._failure = error
            return None

    def _turn(self, prepared: Prepared) -> Reply | None:
        stream = prepared.asked.stream
        with self._lock:
            if self._over:
                return None
            if self.metered.stop is not None or not self.metered.at_request(prepared):
                return self._stopped(stream)
        try:
            answer = self.session.ask(prepared)
        except ClockFell:  # whatever still comes of it counts nowhere
            answer = None
        with self._lock:
            if self._over:
                return None
            if answer is None:
                self.metered.hit(("wall_clock",), RECEIVE)
                return self._stopped(stream)
            if not self.metered.at_response(answer):
                return self._stopped(stream)
        headers = () if answer.status == 200 else NO_RETRY
        return Reply(answer.status, answer.body, answer.streamed, headers)

    def _broken(self, ending: str, error: Exception) -> Reply:
        with self._lock:
            if not self._over:
                self.metered.over(ending, message=str(error), at_once=True)
        return self._no("the run has ended")

    def _stopped(self, stream: bool) -> Reply:
        """Return what an agent at its end gets: one soft stop, then an error without a retry."""
        if self._soft_stopped:
            return self._no(REFUSAL)
        self._soft_stopped = True
        self.emit({"event": "soft_stop"})
        wire, model = self.session.format, self.session.endpoint["model"]
        if stream:
            return Reply(200, wire.final_stream(model, SOFT_STOP).encode(), streamed=True)
        return Reply(200, canonical_json(wire.final(model, SOFT_STOP)))

    def _no(self, message: str) -> Reply:
        with self._lock:
            if not self._over:
                self.metered.counts.refused += 1
                self.emit({"event": "refused", "message": message})
        return Reply(400, canonical_json(self.session.format.refusal(message)), headers=NO_RETRY)
