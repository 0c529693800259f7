"""The loop that lets an agent propose, meters it from outside and keeps every step.

One step: ask (may the agent ask at all?), receive (does the response fit?), apply (does the change
count?), settle (does the agent say that it is done?). At each point the clock may have fallen.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import (
    Agent,
    AgentCrashed,
    AgentKilled,
    Clock,
    ClockFell,
    EndpointDown,
    PinDrift,
    Proposal,
    ResourceLimit,
    Served,
    StartupTimeout,
    Turn,
    Use,
)
from frozenbench.canonical import File, FrozenbenchError, tree_digest
from frozenbench.run import meters as metering
from frozenbench.run.meters import Meters
from frozenbench.run.snapshots import TooLarge, apply_files

Tree = Mapping[str, File]
Emit = Callable[[dict[str, Any]], None]

#: Points of one step at which the clock is looked at; their running number is the event that the
#: record keeps, so that a replay lets the clock fall where it fell.
ASK, RECEIVE, SETTLE = 0, 1, 2
POINTS = 3


@dataclass(frozen=True)
class Step:
    """One delivered step: the tree after it, and the meters as of then."""

    index: int
    tree: Tree
    changed: bool
    meters: Meters
    seconds: float


@dataclass(frozen=True)
class Ended:
    """How a run ended, with everything that the cell's files hold.

    Attributes:
        ending: one of outcomes.ENDINGS.
        hits: caps hit by the deciding event, in deciding order.
        steps: delivered steps in order.
        clock_event: the event at which the clock fell, or None.
        artifact_limit: whether a change was left out because the tree grew too large.
        gateway: what the gateway saw of an agent behind it, else None.
    """

    ending: str
    hits: tuple[str, ...]
    steps: tuple[Step, ...]
    meters: Meters
    seconds: float
    served: tuple[Served, ...]
    infra_retries: int = 0
    clock_event: int | None = None
    artifact_limit: bool = False
    observed_model: str | None = None
    spend: float | None = None
    currency: str | None = None
    message: str = ""
    gateway: Mapping[str, Any] | None = None


_ENDINGS: dict[type[Exception], str] = {
    AgentCrashed: "crashed",
    ResourceLimit: "resource_limit",
    AgentKilled: "killed",
    StartupTimeout: "startup_timeout",
}
#: What an adapter may raise.
_CONTRACT = (*_ENDINGS, ClockFell, EndpointDown, PinDrift, FrozenbenchError)


class _Stop(Exception):
    def __init__(self, ending: str, hits: tuple[str, ...] = (), message: str = "") -> None:
        super().__init__(message)
        self.ending, self.hits, self.message = ending, hits, message


@dataclass
class _State:
    tree: Tree
    meters: Meters
    steps: list[Step] = field(default_factory=list)
    history: list[Proposal] = field(default_factory=list)
    served: list[Served] = field(default_factory=list)
    infra_retries: int = 0
    clock_event: int | None = None
    artifact_limit: bool = False
    observed: str | None = None
    spend: float | None = None
    currency: str | None = None


class Loop:
    """Runs one agent on one task. Not reusable."""

    def __init__(
        self,
        fixture: Tree,
        caps: Mapping[str, float],
        clock: Clock,
        start: Meters,
        emit: Emit,
        forced_clock_event: int | None = None,
    ) -> None:
        self.caps, self.clock, self.emit = caps, clock, emit
        self.forced = forced_clock_event
        self.state = _State(dict(fixture), start)
        self.fixture_digest = tree_digest(fixture)

    def run(self, opened: AbstractContextManager[Agent], start: Callable[[], None]) -> Ended:
        """Let the agent work until it ends by itself, a cap is hit, or something breaks.

        Args:
            opened: the agent, started by entering it (off the clock).
            start: starts the clock, called just before the first `propose`.
        """
        try:
            with opened as agent:
                start()
                while True:
                    self._step(agent)
        except _Stop as stop:
            return self._ended(stop)
        except ClockFell:
            return self._ended(_Stop("cap:wall_clock", ("wall_clock",)))
        except EndpointDown as error:
            self.state.infra_retries += error.infra_retries
            return self._ended(_Stop("endpoint_down", message=str(error)))
        except PinDrift as error:
            self.state.observed = error.observed
            return self._ended(_Stop("pin_drift", message=str(error)))
        except tuple(_ENDINGS) as error:
            return self._ended(_Stop(_ENDINGS[type(error)], message=str(error)))

    def _step(self, agent: Agent) -> None:
        index = len(self.state.history)
        self._stop_at(
            index, ASK, metering.before_request(self.state.meters, self.caps, self._at(index, ASK))
        )
        turn = self._turn(index)
        proposal = self._propose(agent, turn, index)
        if proposal.idle:
            self._idle(proposal)
        hits = metering.on_response(
            self.state.meters, proposal.use, self.caps, self._at(index, RECEIVE)
        )
        if hits:
            self._withhold(proposal, late=hits[0] == "wall_clock")
        self._stop_at(index, RECEIVE, hits)
        self._deliver(proposal, index)
        if proposal.gave_up:
            raise _Stop("gave_up")
        if proposal.done:
            raise _Stop("finished")
        done = self._settle(agent, index)
        self._stop_at(index, SETTLE, metering.clock_hits(self.caps, self._at(index, SETTLE)))
        if done:
            raise _Stop("finished")

    def _turn(self, index: int) -> Turn:
        remaining = self.caps["wall_clock"] - self.clock.elapsed()
        return Turn(index, self.state.tree, tuple(self.state.history), max(0.0, remaining))

    def _at(self, index: int, point: int) -> float:
        """Return the seconds on the clock, or more than its cap where the record says it fell."""
        if self.forced is not None and self.forced == index * POINTS + point:
            return self.caps["wall_clock"] + 1.0
        return self.clock.elapsed()

    def _propose(self, agent: Agent, turn: Turn, index: int) -> Proposal:
        if self.forced == index * POINTS + RECEIVE:
            self._stop_at(index, RECEIVE, ("wall_clock",))
        try:
            with _its_own_faults("propose"):
                proposal = agent.propose(turn)
        except ClockFell as fell:
            self.state.clock_event = index * POINTS + RECEIVE
            if fell.tree is not None:
                self._keep_tree(fell.tree, index)
            raise
        self._account(proposal)
        return proposal

    def _settle(self, agent: Agent, index: int) -> bool:
        turn = self._turn(index + 1)
        with _its_own_faults("settle"):
            return agent.settle(turn)

    def _stop_at(self, index: int, point: int, hits: tuple[str, ...]) -> None:
        """End the run where a cap is hit; the event is kept where the clock decided."""
        if not hits:
            return
        if hits[0] == "wall_clock":
            self.state.clock_event = index * POINTS + point
        raise _Stop(f"cap:{hits[0]}", hits)

    def _idle(self, proposal: Proposal) -> None:
        """An agent that will never do anything uses up its proposals at once."""
        cap = int(self.caps["tool_calls"])
        self.state.meters = metering.Meters(**{**self.state.meters.as_dict(), "tool_calls": cap})
        self.emit({"event": "idle", "proposals": cap, "note": proposal.note})
        raise _Stop("cap:tool_calls", ("tool_calls",))

    def _account(self, proposal: Proposal) -> None:
        """Count what a proposal cost, whether it is delivered or withheld: it was paid."""
        state = self.state
        state.infra_retries += proposal.infra_retries
        if proposal.served is not None:
            state.served.append(proposal.served)
            state.infra_retries += proposal.served.infra_retries
        if proposal.spend is not None:
            state.spend = (state.spend or 0.0) + proposal.spend
            state.currency = proposal.currency

    def _withhold(self, proposal: Proposal, late: bool) -> None:
        """Keep a response from the agent; one that came after the clock fell counts nowhere.

        Whether a late response still arrives is chance, and a replay does not ask for it.
        """
        if not late:
            self.state.meters = metering.withheld(self.state.meters, proposal.use)
        self.emit({"event": "withheld", **_told(proposal)})

    def _deliver(self, proposal: Proposal, index: int) -> None:
        state = self.state
        state.meters = metering.delivered(state.meters, proposal.use, proposal.tool_calls)
        self.emit({"event": "proposal", "step": index + 1, **_told(proposal)})
        state.history.append(proposal)
        try:
            new = self._new_tree(proposal)
        except TooLarge as error:
            state.artifact_limit = True
            self.emit({"event": "artifact_limit", "step": index + 1, "note": str(error)})
            new = state.tree
        self._keep_tree(new, index)

    def _new_tree(self, proposal: Proposal) -> Tree:
        if proposal.too_large is not None:
            raise TooLarge(proposal.too_large)
        if proposal.tree is not None:
            return proposal.tree
        return apply_files(self.state.tree, proposal.files)

    def _keep_tree(self, new: Tree, index: int) -> None:
        state = self.state
        changed = tree_digest(new) != tree_digest(state.tree)
        if changed:
            hits = metering.on_change(state.meters, self.caps)
            if hits:
                self.emit({"event": "change_left_out", "step": index + 1})
                raise _Stop(f"cap:{hits[0]}", hits)
            state.meters = metering.changed(state.meters)
            state.tree = dict(new)
        elapsed = self.clock.elapsed()
        state.steps.append(Step(index + 1, state.tree, changed, state.meters, elapsed))

    def _ended(self, stop: _Stop) -> Ended:
        state = self.state
        self.emit({"event": "end", "ending": stop.ending, "hits": list(stop.hits)})
        return Ended(
            ending=stop.ending,
            hits=stop.hits,
            steps=tuple(state.steps),
            meters=state.meters,
            seconds=self.clock.elapsed(),
            served=tuple(state.served),
            infra_retries=state.infra_retries,
            clock_event=state.clock_event,
            artifact_limit=state.artifact_limit,
            observed_model=state.observed or _last_model(state.served),
            spend=state.spend,
            currency=state.currency,
            message=stop.message,
        )


@contextmanager
def _its_own_faults(where: str) -> Iterator[None]:
    """Turn what an adapter lets out by mistake into `crashed`: the adapter itself failed."""
    try:
        yield
    except Exception as error:
        if isinstance(error, _CONTRACT):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(last.filename).name}:{last.lineno}"
        told = f"the adapter's {where} raised {type(error).__name__} ({at}): {error}"
        raise AgentCrashed(told) from error


def _last_model(served: list[Served]) -> str | None:
    return served[-1].model if served else None


def _told(proposal: Proposal) -> dict[str, Any]:
    """Return what the trace tells of a proposal; its files stand in the snapshot."""
    told: dict[str, Any] = {
        "tool_name": proposal.tool_name,
        "files": sorted(proposal.files),
        "use": _use(proposal.use),
        "done": proposal.done,
        "gave_up": proposal.gave_up,
    }
    if proposal.note:
        told["note"] = proposal.note
    if proposal.text is not None:
        told["text"] = proposal.text
    if proposal.served is not None:
        told["response"] = proposal.served.key
    return told


def _use(use: Use) -> dict[str, int | None]:
    return {name: getattr(use, name) for name in ("total", "input", "output", "cached")}
