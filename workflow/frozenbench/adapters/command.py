"""command: any program that works in a folder: `argv… TASK_ID WORKDIR PROMPT_FILE`.

It runs once, in the sandbox, without network, until it ends or its clock falls. Its tree is taken
out then: what it changed before the clock fell lies inside the budget.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from frozenbench.adapters.contract import (
    AgentKilled,
    Cell,
    ClockFell,
    Proposal,
    ResourceLimit,
    Turn,
    Use,
)
from frozenbench.adapters.proposals import count_of
from frozenbench.adapters.python import CODE, refuse_model_fields
from frozenbench.canonical import File, write_tree
from frozenbench.controls import STRINGS, Agent, control
from frozenbench.sandbox import Box, Ended, Limits, Mount, oom_kills, run, take_tree, work_folder

METERS = frozenset({"wall_clock"})
#: What a command may tell of itself; recorded, and nothing that a cap could rest on.
REPORTS = frozenset({"tool_calls", "tokens"})
PROMPT, REPORT = "/task/prompt.md", "/report"
MAX_REPORT = 64 * 1024


@dataclass(frozen=True)
class Options:
    """What a command agent's file holds besides its sheet."""

    argv: tuple[str, ...] = control(
        "the program; a word that names a path of `code` becomes its place in the sandbox",
        {**STRINGS, "minItems": 1},
    )
    code: tuple[str, ...] = control(
        "files and folders of the agent, relative to the project",
        STRINGS,
        default=(),
        in_key=False,
        enters="run key, by the digest of its content",
    )


def check(agent: Agent, options: Options, where: str) -> None:
    """Refuse what a command without a gateway cannot have."""
    refuse_model_fields(agent, where, "command")


class CommandAgent:
    """One run of the program, told as one proposal."""

    def __init__(self, cell: Cell, work: Path, folder: Path) -> None:
        self.cell, self.work, self.folder = cell, work, folder

    def propose(self, turn: Turn) -> Proposal:
        """Run the program and take its tree out; only the program's own time is on its clock."""
        before = oom_kills()
        with self.cell.clock.paused():
            ended = self._run(turn.remaining)
            tree, notes, limit = take_tree(self.work)
        self.cell.log(ended.output.decode("utf-8", "replace"))
        for note in notes:
            self.cell.log(note)
        if limit is not None:
            self.cell.log(f"artifact: {limit}")
        if ended.timed_out:
            self.cell.clock.credit(ended.seconds)
            raise ClockFell(tree if limit is None else None)
        # An end at the very last moment is seen a moment later.
        self.cell.clock.credit(min(ended.seconds, turn.remaining))
        if ended.resource_limit is not None:
            raise ResourceLimit(ended.resource_limit)
        if ended.signal == 9 and oom_kills() > before:
            raise AgentKilled("the system ended the program for want of memory")
        return self._proposal(tree, ended, limit)

    def settle(self, turn: Turn) -> bool:
        """The program has ended."""
        return True

    def _run(self, seconds: float) -> Ended:
        prompt = self.folder / "prompt.md"
        prompt.write_text(self.cell.prompt, encoding="utf-8")
        prompt.chmod(0o644)
        mounts = [Mount(prompt, PROMPT), Mount(self._report_folder(), REPORT, writable=True)]
        if self.cell.code is not None:
            mounts.append(Mount(self.cell.code, CODE))
        box = Box(
            level=self.cell.isolation,
            work=self.work,
            mounts=tuple(mounts),
            environment=self.cell.environment,
            limits=Limits(seconds=max(seconds, 0.001)),
            network=self.cell.network,
        )
        variables = {"FROZENBENCH_REPORT": box.seen(f"{REPORT}/report.json")}
        if self.cell.budget_disclosed:
            variables["FROZENBENCH_BUDGET"] = json.dumps(dict(self.cell.caps), sort_keys=True)
        box = replace(box, variables=variables)
        words = [self.cell.task_id, box.seen("/work"), box.seen(PROMPT)]
        return run(box, [*self._argv(box), *words])

    def _report_folder(self) -> Path:
        folder = self.folder / "report"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        return folder

    def _argv(self, box: Box) -> list[str]:
        words = list(self.cell.sheet["argv"])
        if words[0] in ("python", "python3"):
            words[0] = box.python
        code = self.cell.code
        if code is None:
            return words
        names = {path.relative_to(code).as_posix() for path in code.rglob("*")}
        paths = [PurePosixPath(word).as_posix() for word in words]
        return [
            box.seen(f"{CODE}/{path}") if path in names else word
            for word, path in zip(words, paths, strict=True)
        ]

    def _proposal(self, tree: Mapping[str, File], ended: Ended, limit: str | None) -> Proposal:
        report = _read_report(self.folder / "report")
        counts = {name: count_of(report.get(name)) for name in ("tokens_input", "tokens_output")}
        parts = [value for value in counts.values() if value is not None]
        spend, currency = _price(report)
        return Proposal(
            tree=tree,
            tool_calls=count_of(report.get("tool_calls")),
            use=Use(
                total=sum(parts) if len(parts) == 2 else None,
                input=counts["tokens_input"],
                output=counts["tokens_output"],
            ),
            done=True,
            gave_up=report.get("gave_up") is True,
            too_large=limit,
            note=f"status {ended.exit_status}, signal {ended.signal}",
            spend=spend,
            currency=currency,
        )


def _price(report: Mapping[str, Any]) -> tuple[float | None, str | None]:
    """Return spend and currency where both are of their form; one without the other says nothing."""
    spend, currency = report.get("spend"), report.get("currency")
    if isinstance(spend, bool) or not isinstance(spend, int | float) or not 0 <= spend < math.inf:
        return None, None
    if not isinstance(currency, str) or not re.fullmatch("[A-Z]{3}", currency):
        return None, None
    try:
        return float(spend), currency
    except OverflowError:  # a whole number beyond all floats
        return None, None


def _read_report(folder: Path) -> dict[str, Any]:
    """Read the optional report, a plain file of bounded size; anything else counts as none."""
    tree, _, _ = take_tree(folder, max_files=1, max_bytes=MAX_REPORT, max_file_bytes=MAX_REPORT)
    try:
        report = json.loads(tree["report.json"].data)
    except (KeyError, ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


@contextmanager
def open_agent(cell: Cell) -> Iterator[CommandAgent]:
    """Prepare the folders; the program starts with the first proposal."""
    with work_folder() as work, work_folder() as folder:
        write_tree(cell.fixture, work)
        yield CommandAgent(cell, work, folder)
