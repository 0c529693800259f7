"""http: an agent that answers `{"task", "history"}` by POST with a proposal as JSON.

Its process is yours and no sandbox holds it, so a config must accept it by name. It is told the
work tree's files instead of a folder. What answers has no digest: `version` stands for it in the
key, and is raised by hand when the agent changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from frozenbench.adapters.contract import (
    AgentCrashed,
    Cell,
    ClockFell,
    PinDrift,
    Proposal,
    Turn,
    Use,
)
from frozenbench.adapters.proposals import parse_proposal, task_told, told
from frozenbench.adapters.python import refuse_model_fields
from frozenbench.canonical import BadInput
from frozenbench.controls import STRING, Agent, control
from frozenbench.gateway.upstream import Target, ask_upstream
from frozenbench.gateway.wire import Wire
from frozenbench.outcomes import METERS as ALL_METERS

METERS = frozenset(ALL_METERS)
UNSANDBOXED = True


@dataclass(frozen=True)
class Options:
    """What an http agent's file holds besides its sheet."""

    version: str = control("your name for what answers; raise it when the agent changes", STRING)
    url: str = control("where it answers", STRING, in_key=False)
    key_env: str | None = control(
        "name of the environment variable with a bearer token",
        {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        default=None,
        in_key=False,
    )


def check(agent: Agent, options: Options, where: str) -> None:
    """Refuse what an http agent cannot have."""
    refuse_model_fields(agent, where, "http")
    parts = urlsplit(options.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{where}: url: is {options.url!r}; cure: an http:// or https:// address")


class _Whole(Wire):
    """A proposal stands for itself: no model's wire format around it, no path below its address."""

    def address(self, root: str) -> str:
        """Return the address as it was given."""
        return root


WIRE = _Whole(
    path="",
    version="/",
    auth=lambda key: {"Authorization": f"Bearer {key}"},
    fault=lambda body: None,
    text=lambda body: "",
    use=lambda body: Use(),
    refusal=lambda body: None,
    whole=True,
)


class HttpAgent:
    """Asks the address for each proposal."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        options = cell.connection["options"]
        self.target = Target(
            wire=WIRE,
            model="",
            key_env=options.get("key_env"),
            reach=lambda: nullcontext(options["url"]),
        )

    def propose(self, turn: Turn) -> Proposal:
        """POST the task and the agent's own history; failed tries are off its clock."""
        request = {
            "task": {**task_told(self.cell), "files": _files(turn)},
            "history": [told(proposal) for proposal in turn.history],
        }
        with self.cell.clock.paused():
            try:
                answer = ask_upstream(self.target, request, turn.remaining, self.cell.log)
            except ClockFell:
                self.cell.clock.credit(turn.remaining)
                raise
            except PinDrift:  # no model is pinned here: `model` is a field like any other
                raise AgentCrashed("proposal: 'model' is unknown") from None
        self.cell.clock.credit(answer.seconds)
        return replace(parse_proposal(answer.body), infra_retries=answer.infra_retries)

    def settle(self, turn: Turn) -> bool:
        """An http agent says that it is done in its proposal."""
        return False


def _files(turn: Turn) -> Mapping[str, Any]:
    """Return the text files of the tree; others by their size alone."""
    found: dict[str, Any] = {}
    for path, file in turn.tree.items():
        try:
            found[path] = file.data.decode("utf-8")
        except UnicodeDecodeError:
            found[path] = {"bytes": len(file.data)}
    return found


@contextmanager
def open_agent(cell: Cell) -> Iterator[HttpAgent]:
    """Give the agent; nothing is started."""
    yield HttpAgent(cell)
