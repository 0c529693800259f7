"""The controls: what a score depends on, each one field of one frozen dataclass.

A field carries its meaning, its unit and its JSON schema. From these come the schemas, the tables
of config/README.md, the keys, the Parquet metadata, the header of the figure and `explain`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frozenbench.canonical import digest

#: Raise by hand when the meaning of a run changes: every run key changes with it.
RUN_SEMANTICS = 1
#: Raise by hand when the meaning of a grade changes: every grade key changes with it.
GRADE_SEMANTICS = 1
#: Raise by hand when tables, figures or page are drawn differently: every view digest changes.
VIEW_SEMANTICS = 4
#: Raise by hand when the meaning of an imported log changes: every import's digest changes.
IMPORT_SEMANTICS = 2

METRIC = "weighted_pass_under_budget@1"
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
RESERVED_AGENTS = ("noop", "reference")

STRING = {"type": "string", "minLength": 1}
STRINGS = {"type": "array", "items": STRING}
POSITIVE = {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}  # JSON readers keep these
COUNT = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}  # a column of int32
SECONDS = {"type": "number", "exclusiveMinimum": 0}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
NAME = {"type": "string", "pattern": ID_PATTERN}
NULLABLE_SHA256 = {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}


def control(
    doc: str,
    schema: Mapping[str, Any],
    *,
    unit: str = "",
    default: Any = dataclasses.MISSING,
    in_key: bool = True,
    enters: str | None = None,
) -> Any:
    """Declare one field: its meaning, JSON schema and unit; without a default it is required.

    `in_key = False` marks what changes how something is reached or paid for, but no result.
    `enters` names, for readers, the first identity that a change of the field changes: what comes
    behind it in the order run key, grade key, experiment digest, view digest changes too.
    """
    enters = enters or ("run key" if in_key else "none")
    metadata = {
        "doc": doc,
        "schema": dict(schema),
        "unit": unit,
        "in_key": in_key,
        "enters": enters,
    }
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def key_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a control dataclass that are part of a key, absent ones left out."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if item is None or not field.metadata.get("in_key", True):
            continue
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            found[field.name] = key_fields(item)
        elif isinstance(item, tuple):
            found[field.name] = list(item)
        else:
            found[field.name] = item
    return found


@dataclass(frozen=True)
class Budget:
    """A named set of caps. An absent cap is no cap; the clock must have one."""

    name: str = control(
        "the budget's name: a label", NAME, in_key=False, enters="experiment digest"
    )
    max_seconds: float = control("wall clock of the agent, monotonic", SECONDS, unit="s")
    max_tool_calls: int | None = control(
        "proposals of a propose loop, or tool-call blocks of a model behind the gateway",
        POSITIVE,
        default=None,
    )
    max_edit_rounds: int | None = control(
        "how often the work tree may change between two steps", POSITIVE, default=None
    )
    max_tokens: int | None = control(
        "input and output tokens as the endpoint reports them, cached input counted",
        POSITIVE,
        unit="tokens",
        default=None,
    )

    def caps(self) -> dict[str, float]:
        """Return the caps that are set, by meter."""
        return {
            meter: value
            for meter, field in CAP_FIELDS.items()
            if (value := getattr(self, field)) is not None
        }


#: Meter -> the budget field that caps it.
CAP_FIELDS = {
    "tool_calls": "max_tool_calls",
    "edit_rounds": "max_edit_rounds",
    "tokens": "max_tokens",
    "wall_clock": "max_seconds",
}


@dataclass(frozen=True)
class Server:
    """A model server that the first cell in need starts and the last one ends."""

    engine: str = control("what serves it", {"enum": ["xllamacpp"]})
    package: str = control("the installed package that carries the weights", STRING, in_key=False)
    file: str = control("the weights' file name inside that package", STRING, in_key=False)
    context: int = control("context length of each slot", POSITIVE, unit="tokens", default=2048)


@dataclass(frozen=True)
class Endpoint:
    """Where an agent's model answers."""

    id: str = control("your name for the endpoint, part of the key", NAME)
    wire: str = control(
        "wire format", {"enum": ["openai-chat", "openai-responses", "anthropic-messages"]}
    )
    model: str = control("model name: sent, and checked in each response", STRING)
    weights_sha256: str | None = control(
        "SHA-256 of the weights, where they are ours", SHA256, default=None
    )
    server: Server | None = control(
        "a local server, started when a request is not in the record", {}, default=None
    )
    base_url: str | None = control(
        "root of an endpoint that runs already", STRING, default=None, in_key=False
    )
    key_env: str | None = control(
        "name of the environment variable that holds the key",
        {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        default=None,
        in_key=False,
    )
    max_concurrency: int | None = control(
        "requests that may be at the endpoint (its id and base_url) at one time, over all cells of "
        "this machine",
        COUNT,
        default=None,
        in_key=False,
    )

    def digest(self) -> str:
        """Return the endpoint's identity in record keys: not port, address or key name."""
        return digest(key_fields(self))


@dataclass(frozen=True)
class Prices:
    """What an endpoint charges; never part of a key."""

    currency: str = control("currency code", {"type": "string", "pattern": "^[A-Z]{3}$"})
    input_per_million: float = control(
        "price of input", {"type": "number", "minimum": 0}, unit="per 1,000,000 tokens"
    )
    output_per_million: float = control(
        "price of output", {"type": "number", "minimum": 0}, unit="per 1,000,000 tokens"
    )
    cached_per_million: float | None = control(
        "price of input that the endpoint had in its cache; absent: that of input",
        {"type": "number", "minimum": 0},
        unit="per 1,000,000 tokens",
        default=None,
    )
    cache_write_per_million: float | None = control(
        "price of input that the endpoint wrote into its cache; absent: that of input",
        {"type": "number", "minimum": 0},
        unit="per 1,000,000 tokens",
        default=None,
    )


@dataclass(frozen=True)
class Agent:
    """One agent's control sheet, without what its adapter adds (see the adapters' Options)."""

    adapter: str = control("the adapter: a module of frozenbench.adapters", STRING)
    endpoint: Endpoint | None = control("the model's endpoint", {}, default=None)
    temperature: float | None = control(
        "sampling temperature, written into each request",
        {"type": "number", "minimum": 0},
        default=None,
    )
    seed: int | None = control(
        "base of the seeds of all requests", {"type": "integer", "minimum": 0}, default=None
    )
    tool_schema_sha256: str | None = control(
        "SHA-256 of the tools that the first request must offer; null: not pinned",
        NULLABLE_SHA256,
        default=None,
    )
    salt: str | None = control("tells two agents with equal sheets apart", STRING, default=None)
    prices: Prices | None = control("for `plan` and `spend`", {}, default=None, in_key=False)


@dataclass(frozen=True)
class Experiment:
    """What the run is called and which question its page answers first."""

    name: str = control("folder name under results/", NAME, enters="none")
    question: str | None = control(
        "which metric leads the page",
        {"enum": ["solves_at_all", "invents_apis", "overnight", "a_vs_b", None]},
        default=None,
        enters="view digest",
    )


@dataclass(frozen=True)
class PackChoice:
    """The pack of an experiment."""

    path: str = control(
        "folder of the pack, relative to the project; its content is in the keys, its place is not",
        STRING,
        enters="none",
    )
    expected_sha256: str | None = control(
        "pins the pack by its digest or by its file's SHA-256; on any drift nothing starts",
        NULLABLE_SHA256,
        default=None,
        enters="none",
    )


@dataclass(frozen=True)
class Responses:
    """How model responses are stored and shared."""

    policy: str = control(
        "shared: cells of other budgets are served the same answer; independent: each budget asks",
        {"enum": ["shared", "independent"]},
        default="shared",
    )
    record: str | None = control(
        "a committed record of responses; absent or not there: empty",
        {"type": ["string", "null"]},
        default=None,
        in_key=False,
    )


@dataclass(frozen=True)
class Statistics:
    """Settings of the statistics: a view, never a cell."""

    resamples: int = control(
        "resamples of tasks",
        {"type": "integer", "minimum": 100, "maximum": 1000000},
        default=10000,
        enters="view digest",
    )
    alpha: float = control(
        "family-wise error of the contrasts",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
        default=0.05,
        enters="view digest",
    )


@dataclass(frozen=True)
class Config:
    """A whole experiment as it stands in config/*.yaml."""

    experiment: Experiment = control("name and question", {})
    pack: PackChoice = control("the task pack", {})
    agents: tuple[str, ...] = control(
        "names of config/agents/<name>.yaml, in the order of their colours",
        {"type": "array", "items": NAME, "minItems": 1},
        enters="experiment digest",
    )
    budgets: tuple[Budget, ...] = control("the ladder", {"type": "array", "minItems": 1})
    budget_axis: str = control(
        "the cap on the figure's x axis",
        {"enum": sorted(CAP_FIELDS.values())},
        enters="view digest",
    )
    repeats: int = control(
        "independent runs of each cell", COUNT, default=1, enters="experiment digest"
    )
    grading: str = control(
        "final: the artifact is graded; every_step: each snapshot up to the first green one",
        {"enum": ["final", "every_step"]},
        default="final",
        enters="grade key",
    )
    budget_disclosed: bool = control(
        "whether the agent is told its budget", {"type": "boolean"}, default=False
    )
    clock: str = control(
        "guard: clock hits are counted and refuse above 1 %; strict: cells never share a core",
        {"enum": ["guard", "strict"]},
        default="guard",
        enters="experiment digest",
    )
    isolation: str = control(
        "the least isolation that cells and graders must have",
        {"enum": ["none", "process", "userns", "userns+cgroup", "container"]},
        default="userns",
    )
    responses: Responses = control("record and sharing of responses", {}, default=Responses())
    figures: tuple[str, ...] = control(
        "figures to draw", STRINGS, default=("budget_curves",), enters="view digest"
    )
    focus: tuple[str, ...] | None = control(
        "agents drawn in colour where there are more than six; without it those that lead somewhere",
        STRINGS,
        default=None,
        enters="view digest",
    )
    statistics: Statistics = control("statistics", {}, default=Statistics())
    title: str | None = control("the figure's title", STRING, default=None, enters="view digest")
    tasks: tuple[str, ...] | None = control(
        "a subset of the pack's tasks, for a smoke run: another experiment",
        {"type": "array", "items": NAME, "minItems": 1},
        default=None,
        enters="experiment digest",
    )
    startup_timeout_s: float = control(
        "limit on an agent's start-up, off its clock", SECONDS, unit="s", default=300, in_key=False
    )
    max_spend: float | Mapping[str, Any] | None = control(
        "what all responses that the experiment buys may cost: an amount, or {amount, currency}; "
        "what is reached stops new cells and requests and loses none",
        {
            "type": ["number", "object"],
            "exclusiveMinimum": 0,
            "properties": {
                "amount": {"type": "number", "exclusiveMinimum": 0},
                "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
            },
            "required": ["amount"],
            "additionalProperties": False,
        },
        unit="in the currency of the agents' prices",
        default=None,
        in_key=False,
    )
    allow_open_network: tuple[str, ...] | None = control(
        "tasks that may reach the network; shown apart", STRINGS, default=None, enters="none"
    )
    accept_error_share: float = control(
        "share of infrastructure ERRORs with which a score is still printed",
        {"type": "number", "minimum": 0, "maximum": 1},
        default=0.0,
        enters="experiment digest",
    )
    accept_unmetered: tuple[str, ...] | None = control(
        "agents whose tokens need not be known",
        STRINGS,
        default=None,
        enters="experiment digest",
    )
    accept_unsandboxed: tuple[str, ...] | None = control(
        "http agents: their process is yours, no sandbox holds it",
        STRINGS,
        default=None,
        enters="experiment digest",
    )

    def spend_limit(self) -> tuple[float | None, str | None]:
        """Return `max_spend` as amount and currency; None: absent, or the currency of the prices."""
        if isinstance(self.max_spend, Mapping):
            return self.max_spend["amount"], self.max_spend.get("currency")
        return self.max_spend, None

    def accepted(self) -> dict[str, Any]:
        """Return what the config accepts by an `accept_*` key: part of the experiment digest."""
        found: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name.startswith("accept_") and value != field.default:
                found[field.name] = sorted(value) if isinstance(value, tuple) else value
        return found


def is_imported(document: Mapping[str, Any]) -> bool:
    """Tell from a controls document whether the experiment's runs were made elsewhere."""
    return "source" in document
