"""chat: a model behind a chat endpoint, which proposes files in fenced code blocks.

One response is one proposal. Three policies:

- `oneshot` asks once and is done;
- `resample` asks the same again with the next seed, each time a fresh conversation, and never
  stops by itself;
- `repair` runs the visible check after each proposal, is done when that is green, and else tells
  the model how it failed. It sees what stands in the fixture, never the grader.

How code blocks become files stands in `frozenbench.dialogue.code_blocks`, what a model is told of
a failure in `frozenbench.dialogue.failure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from frozenbench.adapters.contract import AgentCrashed, Cell, Proposal, Turn, checked_endpoint
from frozenbench.canonical import BadInput, File, digest, write_tree
from frozenbench.controls import POSITIVE, SECONDS, STRING, STRINGS, Agent, control
from frozenbench.dialogue import failure
from frozenbench.dialogue.code_blocks import files_of
from frozenbench.gateway.exchange import ask, spend_of
from frozenbench.gateway.record import canonical_request
from frozenbench.gateway.seed import request_seed
from frozenbench.gateway.wire import wire_of
from frozenbench.outcomes import METERS as ALL_METERS

METERS = frozenset(ALL_METERS)

NO_BLOCK = "Your answer held no fenced code block."
TOO_SLOW = "The check did not end in time."


@dataclass(frozen=True)
class Options:
    """What a chat agent's file holds besides its sheet."""

    policy: str = control(
        "oneshot: asks once; resample: asks again with the next seed; repair: is told of failures",
        {"enum": ["oneshot", "resample", "repair"]},
    )
    max_output_tokens: int = control("limit of each response", POSITIVE, unit="tokens")
    system: str | None = control("system message", STRING, default=None)
    top_p: float | None = control(
        "nucleus sampling, written into each request",
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        default=None,
    )
    output_limit_field: str = control(
        "the request's field for max_output_tokens: endpoints differ",
        {"enum": ["max_tokens", "max_completion_tokens"]},
        default="max_tokens",
    )
    check: tuple[str, ...] | None = control(
        "repair: the visible check, a command in the work folder; `python` is the pack's",
        {**STRINGS, "minItems": 1},
        default=None,
    )
    check_timeout_s: float = control("repair: limit of the check", SECONDS, unit="s", default=10)
    history_rounds: int = control(
        "repair: how many earlier answers, with their failures, a request holds at most: a small "
        "context has no room for more",
        {"type": "integer", "minimum": 1},
        default=1,
    )
    failure_length: int = control(
        "repair: what a failure is cut to", POSITIVE, unit="characters", default=400
    )


def check(agent: Agent, options: Options, where: str) -> None:
    """Refuse what a chat agent cannot work with.

    Raises:
        BadInput: names file, key and cure.
    """
    endpoint = checked_endpoint(agent, wire_of, where)
    if endpoint.server is not None and endpoint.weights_sha256 is None:
        raise BadInput(
            f"{where}: endpoint.weights_sha256: is missing; cure: give the SHA-256 of "
            f"{endpoint.server.file}"
        )
    if agent.tool_schema_sha256 is not None:
        raise BadInput(
            f"{where}: tool_schema_sha256: a chat agent offers no tools; cure: remove it"
        )
    if options.policy == "repair" and options.check is None:
        raise BadInput(
            f"{where}: check: is missing; cure: give the command of the visible check, which "
            "policy repair needs"
        )
    if options.policy != "repair" and options.check is not None:
        raise BadInput(
            f"{where}: check: policy {options.policy} runs no check; cure: remove it, or set "
            "policy: repair"
        )


def options_of(sheet: Mapping[str, Any]) -> Options:
    """Return the options in an agent's sheet."""
    given = {field.name: sheet[field.name] for field in fields(Options) if field.name in sheet}
    if "check" in given:
        given["check"] = tuple(given["check"])
    return Options(**given)


@contextmanager
def open_agent(cell: Cell) -> Iterator[ChatAgent]:
    """Give the agent; nothing is started before a request is not in the record."""
    if "endpoint" not in cell.sheet:
        raise AgentCrashed("the agent has no endpoint")
    yield ChatAgent(cell)


@dataclass(frozen=True)
class Round:
    """One answer of the model, and what it was told of it."""

    reply: str
    failure: str


class ChatAgent:
    """A conversation about one task."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.options = options_of(cell.sheet)
        self.wire = wire_of(cell.sheet["endpoint"]["wire"])
        self.rounds: list[Round] = []
        self.asked: Counter[str] = Counter()

    def propose(self, turn: Turn) -> Proposal:
        """Ask the model once."""
        request = self._request(turn.step)
        asked = digest(canonical_request(request))
        body, served, use = ask(self.cell, request, self.asked[asked])
        self.asked[asked] += 1
        spend, currency = spend_of(self.cell, use)
        refusal = self.wire.refusal(body)
        if refusal is not None:
            return Proposal(gave_up=True, use=use, served=served, note=refusal[:200])
        reply = self.wire.text(body)
        files = files_of(reply, self.cell.artifact)
        return Proposal(
            files=files,
            tool_name="chat",
            use=use,
            done=self.options.policy == "oneshot",
            served=served,
            note="" if files else "no code block that is a file",
            text=reply,
            spend=spend,
            currency=currency,
        )

    def settle(self, turn: Turn) -> bool:
        """Run the visible check on the tree as it stands; done if it is green."""
        if self.options.policy != "repair":
            return self.options.policy == "oneshot"
        last = turn.history[-1]
        failed = self._check(turn.tree)
        if failed is None:
            return True
        self.rounds.append(Round(last.text or "", failed if last.files else NO_BLOCK))
        return False

    def _request(self, proposal: int) -> dict[str, Any]:
        sheet, options = self.cell.sheet, self.options
        request: dict[str, Any] = {
            "model": sheet["endpoint"]["model"],
            "messages": self._messages(),
            options.output_limit_field: options.max_output_tokens,
        }
        if "temperature" in sheet:
            request["temperature"] = sheet["temperature"]
        if "seed" in sheet:
            request["seed"] = request_seed(sheet["seed"], self.cell.repeat, proposal)
        if options.top_p is not None:
            request["top_p"] = options.top_p
        return request

    def _messages(self) -> list[dict[str, str]]:
        """Return the conversation: the task, then the last rounds of a repair."""
        system = self.options.system
        messages = [] if system is None else [_said("system", system)]
        messages.append(_said("user", self.cell.prompt + self._budget()))
        for done in self.rounds[-self.options.history_rounds :]:
            messages.append(_said("assistant", done.reply))
            messages.append(_said("user", _failure_message(done.failure)))
        return messages

    def _budget(self) -> str:
        """Return the sentence that discloses the budget, where that is wanted."""
        if not self.cell.budget_disclosed:
            return ""
        names = {
            "tool_calls": "{} answers",
            "edit_rounds": "{} changes of the files",
            "tokens": "{} tokens in all",
            "wall_clock": "{} seconds",
        }
        caps = [
            text.format(_number(self.cell.caps[meter]))
            for meter, text in names.items()
            if meter in self.cell.caps
        ]
        return f"\n\nYour budget: at most {', '.join(caps)}."

    def _check(self, tree: Mapping[str, File]) -> str | None:
        """Return how the visible check failed on a throw-away copy of the tree, None if green."""
        from frozenbench.sandbox import WORK, Box, Limits, run, work_folder

        assert self.options.check is not None
        left = self.cell.caps["wall_clock"] - self.cell.clock.elapsed()
        # A little longer than the clock: the loop must see that it fell.
        seconds = min(self.options.check_timeout_s, max(0.0, left) + 0.05)
        with work_folder() as work:
            write_tree(tree, work)
            box = Box(
                level=self.cell.isolation,
                work=work,
                environment=self.cell.environment,
                limits=Limits(seconds=seconds),
                network=self.cell.network,
            )
            word, *rest = self.options.check
            ended = run(box, [box.python if word in ("python", "python3") else word, *rest])
            seen = [box.seen(WORK), str(work), WORK]
        if ended.exit_status == 0 and not ended.timed_out:
            return None
        text = failure.told(ended.output, seen, self.options.failure_length)
        return f"{text}\n{TOO_SLOW}".strip() if ended.timed_out else text


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _failure_message(text: str) -> str:
    """Return what the model is told of a failure; the plainest words helped small models most."""
    parts = ["Your code is wrong:" if text else "Your code is wrong.", text]
    return "\n\n".join([*filter(None, parts), "Write the whole corrected code."])
