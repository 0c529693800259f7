"""What a run asks of an adapter, and what an adapter may answer.

An adapter is one module of this package whose name is the name in an agent's file. It declares

- `METERS`: the meters that it lets us enforce from outside (a cap on another one is refused),
- `Options`: a frozen dataclass of `control()` fields, its own part of the agent's sheet,
- `check(options, where)`: what a schema cannot say (BadInput),
- `open_agent(cell)`: a context manager that gives an `Agent`; with `GATEWAY = True` one that gives
  a program which asks a model by itself (`frozenbench.run.gateway_loop.Program`).

The agent knows nothing of the budget unless it is disclosed; the loop in `frozenbench.run` meters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from frozenbench import controls
from frozenbench.canonical import BadInput, File


class AgentCrashed(Exception):
    """The adapter itself failed, or a proposal was not of its form (ending `crashed`)."""


class ResourceLimit(Exception):
    """A limit of the sandbox ended the agent (ending `resource_limit`)."""


class AgentKilled(Exception):
    """The system, not we, ended the agent (ending `killed`)."""


class StartupTimeout(Exception):
    """The agent was not ready within `startup_timeout_s` (ending `startup_timeout`)."""


class EndpointDown(Exception):
    """The endpoint did not answer after all retries (ending `endpoint_down`)."""

    def __init__(self, message: str, infra_retries: int = 0) -> None:
        super().__init__(message)
        self.infra_retries = infra_retries


class PinDrift(Exception):
    """The endpoint answered with another model than the pinned one (ending `pin_drift`).

    `response` is what it answered, where that was bought and is not kept.
    """

    def __init__(
        self, message: str, observed: str, response: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.observed, self.response = observed, response


class ClockFell(Exception):
    """The wall clock fell while the agent worked.

    `tree` is the work tree at that moment where the agent changes it by itself, else None.
    """

    def __init__(self, tree: Mapping[str, File] | None = None) -> None:
        super().__init__("the wall clock fell")
        self.tree = tree


@dataclass(frozen=True)
class Use:
    """Tokens of one proposal or response; None where the agent or endpoint did not report them."""

    total: int | None = None
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    #: Input that the endpoint wrote into its cache: it may have a price of its own, and no meter.
    cache_write: int | None = None


@dataclass(frozen=True)
class Served:
    """Where a model response came from.

    Attributes:
        key: its record key.
        recorded: served from the store, not asked upstream by this cell.
        date: the UTC day on which the endpoint answered, YYYY-MM-DD.
        seconds: the time that the endpoint took when it was recorded.
        model: the model name in the response.
        infra_retries: infrastructure retries that this cell made for it.
        drift: in a replay, how the request differs from the recorded one that was served.
    """

    key: str
    recorded: bool
    date: str
    seconds: float
    model: str | None
    infra_retries: int = 0
    drift: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Proposal:
    """One step of an agent.

    Attributes:
        files: path -> new text or bytes, or None to delete; relative POSIX paths.
        tree: the whole new work tree, for an agent that changes it by itself; `files` is empty.
        tool_calls: what the proposal counts as; None where an agent does not tell.
        idle: nothing is proposed, now or ever again (noop): the loop need not ask on.
        too_large: the limit that the tree passed when it was taken out; then it does not count.
        note: one line for the trace.
        text: what the model said, for the trace.
    """

    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    tree: Mapping[str, File] | None = None
    tool_name: str | None = None
    tool_calls: int | None = 1
    use: Use = Use()
    done: bool = False
    gave_up: bool = False
    idle: bool = False
    served: Served | None = None
    too_large: str | None = None
    note: str = ""
    text: str | None = None
    infra_retries: int = 0
    spend: float | None = None
    currency: str | None = None


@dataclass(frozen=True)
class Turn:
    """What the loop hands to an agent at each step.

    Attributes:
        step: index of the proposal, from 0.
        tree: the work tree as it stands.
        history: the agent's own delivered proposals, never grader output.
        remaining: seconds left on the clock when the step begins.
    """

    step: int
    tree: Mapping[str, File]
    history: tuple[Proposal, ...]
    remaining: float


class Clock(Protocol):
    """The agent's clock: monotonic seconds since the first call of `propose`."""

    def elapsed(self) -> float:
        """Seconds on the clock."""

    def paused(self) -> AbstractContextManager[None]:
        """Time inside the block does not count (waiting for a lock, backoff, a retry)."""

    def credit(self, seconds: float) -> None:
        """Add the seconds that a served response took when it was recorded."""


class Purse(Protocol):
    """What a cell may spend; the ledger of its experiment stands behind it."""

    def check(self) -> None:
        """Let a request go out; raises Refused where all that may be spent is spent."""

    def pay(self, key: str, request: Mapping[str, Any], response: Mapping[str, Any] | None) -> None:
        """Note a response that was bought; None: it came too late to be read."""

    def pay_cut(self, key: str, request: Mapping[str, Any], came: bytes) -> None:
        """Note what came of an answer that broke off, and was asked for again."""


class Agent(Protocol):
    """An agent at work on one task."""

    def propose(self, turn: Turn) -> Proposal:
        """Return the next proposal; may raise the exceptions of this module."""

    def settle(self, turn: Turn) -> bool:
        """After a delivered proposal: whether the agent now says that it is done."""


@dataclass(frozen=True)
class Cell:
    """Everything that an adapter may know of its cell: nothing of tests, bans or weights.

    Attributes:
        task_id: the task's id.
        task_digest: its digest, part of record keys.
        prompt: what the agent is told.
        artifact: paths that the task asks for.
        fixture: the tree that it starts from.
        caps: effective caps by meter. For the loop and for disclosure, not for the agent.
        budget_disclosed: whether the agent may be told the caps.
        repeat: counted from 0.
        sheet: the agent's sheet (key fields only; Options included).
        connection: what is in no key: base_url, key_env, server, max_concurrency, prices.
        code: folder with the agent's frozen code, or None.
        isolation: the level asked for.
        environment: the pack environment's folder, or None.
        responses: folder of the record store.
        responses_policy: shared or independent.
        run_key: the cell's run key.
        clock: the agent's clock.
        log: writes one line to the cell's log.
        solution: the reference solution, for the reference agent alone.
        startup_timeout_s: limit on the agent's start-up, which is off its clock.
        network: blocked, or open for a task that the config accepts by name.
        roots: folders below `code` that go on the module path.
        replay: nothing is asked of an endpoint: the record answers, or nobody.
        purse: counts what its responses cost; None without prices.
    """

    task_id: str
    task_digest: str
    prompt: str
    artifact: tuple[str, ...]
    fixture: Mapping[str, File]
    caps: Mapping[str, float]
    budget_disclosed: bool
    repeat: int
    sheet: Mapping[str, Any]
    connection: Mapping[str, Any]
    code: Path | None
    isolation: str
    environment: Path | None
    responses: Path
    responses_policy: str
    run_key: str
    clock: Clock
    log: Callable[[str], None]
    solution: Mapping[str, File] | None = None
    startup_timeout_s: float = 300.0
    network: str = "blocked"
    roots: tuple[str, ...] = ()
    replay: bool = False
    purse: Purse | None = None


def checked_endpoint(
    agent: controls.Agent, wire_of: Callable[[str], object], where: str
) -> controls.Endpoint:
    """Return the endpoint of an agent that cannot work without one.

    Args:
        agent: as its file gives it.
        wire_of: raises BadInput for a wire format that the adapter does not speak.
        where: how errors name the file.

    Raises:
        BadInput: it is missing, or not reached in exactly one way.
    """
    endpoint = agent.endpoint
    if endpoint is None:
        raise BadInput(f"{where}: endpoint: is missing; cure: say where the model answers")
    try:
        wire_of(endpoint.wire)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None
    if (endpoint.base_url is None) == (endpoint.server is None):
        raise BadInput(
            f"{where}: endpoint: cure: give either base_url (an endpoint that runs already) or "
            "server (one that is started when it is needed)"
        )
    return endpoint
