"""python: an agent that is a function, `propose(task, history)`, kept in the sandbox.

Only what it returns counts: its work folder is brought to the state of its delivered proposals
before each call, and what it writes there by itself is not part of the artifact.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import (
    AgentCrashed,
    AgentKilled,
    Cell,
    ClockFell,
    Proposal,
    ResourceLimit,
    StartupTimeout,
    Turn,
)
from frozenbench.adapters.proposals import parse_proposal, task_told, told
from frozenbench.canonical import BadInput, File
from frozenbench.controls import STRING, STRINGS, Agent, control
from frozenbench.outcomes import METERS as ALL_METERS
from frozenbench.sandbox import WORK, Box, Limits, Mount, Running, oom_kills, start, work_folder

METERS = frozenset(ALL_METERS)
DRIVER = Path(__file__).parent.parent / "inside" / "agent_loop.py"
CODE, DRIVER_SEEN = "/agent", "/opt/frozenbench/agent_loop.py"


@dataclass(frozen=True)
class Options:
    """What a python agent's file holds besides its sheet."""

    module: str = control("module that is imported from `code`", STRING)
    code: tuple[str, ...] = control(
        "files and folders of the agent, relative to the project",
        {**STRINGS, "minItems": 1},
        in_key=False,
        enters="run key, by the digest of its content",
    )
    attribute: str = control("the function", STRING, default="propose")


def check(agent: Agent, options: Options, where: str) -> None:
    """Refuse what a python agent cannot have."""
    refuse_model_fields(agent, where, "python")


def refuse_model_fields(agent: Agent, where: str, adapter: str) -> None:
    """Raise BadInput for fields that only an agent with a model endpoint has."""
    for name in ("endpoint", "tool_schema_sha256", "prices"):
        if getattr(agent, name) is not None:
            raise BadInput(
                f"{where}: {name}: adapter {adapter} asks no model itself; cure: remove the field"
            )


class PythonAgent:
    """The agent's process in its box."""

    def __init__(self, cell: Cell, running: Running, workdir: str) -> None:
        self.cell, self.running, self.workdir = cell, running, workdir
        self.oom_kills = oom_kills()
        # The folder is empty until the first call: what an agent does before is off its clock.
        self.seen: dict[str, File] = {}

    def propose(self, turn: Turn) -> Proposal:
        """Ask the process for its next proposal, at most until the clock falls."""
        request = {
            "task": {**task_told(self.cell), "workdir": self.workdir},
            "history": [told(proposal) for proposal in turn.history],
            "changes": self._changes(turn.tree),
        }
        answer = self._exchange(request, time.monotonic() + turn.remaining)
        if answer is None:
            raise ClockFell
        if "proposal" not in answer:
            raise AgentCrashed(f"propose raised:\n{answer.get('crashed')}")
        return parse_proposal(answer["proposal"])

    def settle(self, turn: Turn) -> bool:
        """A python agent says that it is done in its proposal."""
        return False

    def _changes(self, tree: Mapping[str, File]) -> dict[str, list[Any] | None]:
        """Return path -> [base64, x-bit], or None to delete, since the last call."""
        changes: dict[str, list[Any] | None] = {p: None for p in self.seen if p not in tree}
        for path, file in tree.items():
            if self.seen.get(path) != file:
                changes[path] = [base64.b64encode(file.data).decode("ascii"), file.executable]
        self.seen = dict(tree)
        return changes

    def wait_ready(self) -> None:
        """Wait until the agent's module is imported, off its clock."""
        answer = self._read(time.monotonic() + self.cell.startup_timeout_s)
        if answer is None:
            raise StartupTimeout(f"not ready after {self.cell.startup_timeout_s} s")
        if "ready" not in answer:
            raise AgentCrashed(f"the agent's module cannot be used:\n{answer.get('crashed')}")

    def _exchange(self, request: dict[str, Any], deadline: float) -> dict[str, Any] | None:
        # Where it takes no more, the reading tells why: it has ended, or the clock falls.
        self.running.write_line(json.dumps(request).encode(), deadline)
        return self._read(deadline)

    def _read(self, deadline: float) -> dict[str, Any] | None:
        line = self.running.read_line(deadline)
        if line is None:
            if self.running.ended is not None:
                self._gone()
            return None
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise AgentCrashed("the agent's process wrote a line that is not JSON") from None
        if not isinstance(answer, dict):
            raise AgentCrashed("the agent's process wrote a line that is no JSON object")
        return answer

    def _gone(self) -> None:
        ended = self.running.ended
        if ended is None:
            raise AgentCrashed("the agent's process closed its output")
        text = ended.output.decode("utf-8", "replace")[-2000:]
        if ended.resource_limit is not None:
            raise ResourceLimit(f"{ended.resource_limit}\n{text}")
        if ended.signal == 9 and oom_kills() > self.oom_kills:
            raise AgentKilled("the system ended the agent's process for want of memory")
        status = f"status {ended.exit_status}, signal {ended.signal}"
        raise AgentCrashed(f"the agent's process ended ({status}):\n{text}")


@contextmanager
def open_agent(cell: Cell) -> Iterator[PythonAgent]:
    """Start the agent's process and wait until it is ready; end it with the block."""
    if cell.code is None:
        raise AgentCrashed("the agent has no frozen code")
    with work_folder() as work:
        box = Box(
            level=cell.isolation,
            work=work,
            mounts=(Mount(cell.code, CODE), Mount(DRIVER, DRIVER_SEEN)),
            environment=cell.environment,
            limits=Limits(seconds=None),
            network=cell.network,
        )
        roots = [box.seen(f"{CODE}/{root}") for root in cell.roots]
        options = cell.sheet
        argv = [box.python, box.seen(DRIVER_SEEN), options["module"], options["attribute"], *roots]
        running = start(box, argv)
        try:
            agent = PythonAgent(cell, running, box.seen(WORK))
            agent.wait_ready()
            yield agent
        finally:
            running.kill()
            output = running.close().output
            if output:
                cell.log(output.decode("utf-8", "replace"))
