"""What an imported log is made of: rows, published figures, verdicts, what it states, remarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal


@dataclass(frozen=True)
class Axis:
    """One kind of use that a cap can be laid on afterwards.

    Attributes:
        name: the name in the config and in budget names.
        unit: what is counted, in words.
        cap: the field of a budget that holds the cap.
        meter: the word for it in `reason` and `cap_hit`.
        whole: whether it is counted in whole numbers; otherwise it is an exact decimal.
    """

    name: str
    unit: str
    cap: str
    meter: str
    whole: bool


AXES: Mapping[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("calls", "model calls", "max_tool_calls", "tool_calls", True),
        Axis("steps", "steps", "max_tool_calls", "tool_calls", True),
        Axis("edit_rounds", "edit rounds", "max_edit_rounds", "edit_rounds", True),
        Axis("tokens", "tokens", "max_tokens", "tokens", True),
        Axis("cost", "cost in USD", "max_cost", "spend", False),
        Axis("seconds", "seconds", "max_seconds", "wall_clock", False),
    )
}

#: What a result depends on and a log may or may not state.
CONTROLS = (
    "task pack digest",
    "grader digest",
    "cap on calls or steps",
    "cap on tokens",
    "cap on cost",
    "cap on seconds",
    "harness version",
    "model name",
    "model weights or revision",
    "temperature",
    "seed",
    "tool schema",
    "isolation",
    "network policy",
    "environment lock",
    "budget disclosed to the agent",
)

#: The control that states the cap of an axis.
CAP_CONTROLS = {
    "calls": "cap on calls or steps",
    "steps": "cap on calls or steps",
    "tokens": "cap on tokens",
    "cost": "cap on cost",
    "seconds": "cap on seconds",
}


class Unreadable(Exception):
    """A file is not what its format says; the message is for people and names no path."""


class Passed(Exception):
    """A file of the format that holds no outcome of its own; the message says what it is."""


@dataclass(frozen=True)
class Use:
    """What one finished run used; None is "the log does not tell", never 0."""

    calls: int | None = None
    steps: int | None = None
    edit_rounds: int | None = None
    tokens: int | None = None
    cost: Decimal | None = None
    seconds: Decimal | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    tokens_cached: int | None = None

    def on(self, axis: str) -> int | Decimal | None:
        """Return the use on an axis."""
        value: int | Decimal | None = getattr(self, axis)
        return value


@dataclass(frozen=True)
class Row:
    """One finished run of one agent on one task.

    Attributes:
        agent, task: the log's own names.
        solved: the log's verdict; None: it holds none.
        repeat: from 0; None: counted in the order of the rows, or of the labels.
        label: what the log calls the repeat, where that is any name: numbered when all are read.
        run: the log's name of the set of runs it belongs to.
        trial: the log's name of this run inside `run`; two rows of one name are one run.
        ending: the log's own word for how it ended; None: it has none.
        ran_out: what ran out by the log's own ending: an axis, or `context`, `messages`, `unknown`.
        error: why nothing can be said of the agent: harness or grader broke.
        inferred: `ran_out` was found by comparing use with stated limits.
        file: where it was read.
    """

    agent: str
    task: str
    solved: bool | None
    use: Use = field(default_factory=Use)
    repeat: int | None = None
    label: str | None = None
    run: str = ""
    trial: str | None = None
    ending: str | None = None
    ran_out: str | None = None
    error: str | None = None
    inferred: bool = False
    file: str = ""


@dataclass(frozen=True)
class Published:
    """A figure that a log publishes of its own rows.

    Attributes:
        agent: whose; `run` narrows it to the rows of one run, empty: all of them.
        rate: share solved, as written: 0.6493; `digits` after the point of the share.
        solved: number solved, where that is what is published.
    """

    agent: str
    run: str = ""
    rate: Decimal | None = None
    digits: int = 4
    solved: int | None = None
    axis: str | None = None
    cap: int | None = None
    n: int | None = None


#: In place of a task: every one that a report does not name.
OTHERS = "*"


@dataclass(frozen=True)
class Verdict:
    """A verdict that stands beside the logs: whether a task was solved; None: its grader broke.

    Attributes:
        agent: whose, where the report says so.
        file: the report that it stands in: its place and its name tell whose it is, too.
        folder: where a harness wrote one report for each task, the folder of all of them: they are
            one report; empty: the file is all of it.
        run: the agent and the run that it is of, where that is known already.
    """

    task: str
    solved: bool | None
    agent: str | None = None
    file: str = ""
    folder: str = ""
    run: tuple[str, str] | None = None


@dataclass(frozen=True)
class Remark:
    """Something that a reader must be told: its kind, and what it is about."""

    kind: str
    subject: str


@dataclass(frozen=True)
class Part:
    """What one file gave.

    Attributes:
        stated: agent -> {control of CONTROLS: its value in words}.
        limits: agent -> {axis: the log's own limit}.
        expected: (agent, task) that the log says were run, with or without a row, once for each
            repeat.
        facts: agent -> {setting: its value}: what tells it from others of its name. An agent that
            is not in it is told by its name alone.
        retold: its rows are what somebody tells of runs: where the logs of these runs are there
            too, they are verdicts on them, and no runs of their own.
    """

    rows: tuple[Row, ...] = ()
    published: tuple[Published, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    stated: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Decimal]] = field(default_factory=dict)
    expected: tuple[tuple[str, str], ...] = ()
    remarks: tuple[Remark, ...] = ()
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    retold: bool = False
