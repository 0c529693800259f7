"""The script: what the endpoint answers, step by step.

    steps:
      - write: {path: app.py, content: "print(1)\\n"}
      - calls: [{run: python app.py}, {read: app.py}]    # two in parallel, in one answer
      - {status: 429, times: 2}
      - finish: Done.

A request that is answered takes the next step, also where the answer is an error. Behind the last
step the script goes back to the step that `then` names, or serves its last step for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput
from frozenbench.controls import STRING, control
from frozenbench.schema import build

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_SECONDS = {"type": "number", "minimum": 0}
_TIMES = {"type": "integer", "minimum": 1}


@dataclass(frozen=True)
class Write:
    """The wish to have a file with a content."""

    path: str = control("path in the work folder", STRING)
    content: str = control("its whole text", _TEXT)


@dataclass(frozen=True)
class Tool:
    """A call of a tool by its own name, for what no intent says."""

    name: str = control("the tool's name", STRING)
    arguments: Mapping[str, Any] = control("its arguments", {"type": "object"})


@dataclass(frozen=True)
class Call:
    """One of several parallel calls; exactly one of its fields is given."""

    write: Write | None = control("write a file", {}, default=None)
    run: str | None = control("run a shell command", STRING, default=None)
    read: str | None = control("read a file", STRING, default=None)
    tool: Tool | None = control("call a tool by its name", {}, default=None)


@dataclass(frozen=True)
class Tokens:
    """What an answer reports as its use."""

    input: int = control("input without what was cached", _COUNT, unit="tokens", default=100)
    output: int = control("output", _COUNT, unit="tokens", default=10)
    cached: int = control("input read from a cache", _COUNT, unit="tokens", default=0)


@dataclass(frozen=True)
class Step:
    """One answer."""

    say: str | None = control("text, before any calls", _TEXT, default=None)
    write: Write | None = control("write a file", {}, default=None)
    run: str | None = control("run a shell command", STRING, default=None)
    read: str | None = control("read a file", STRING, default=None)
    tool: Tool | None = control("call a tool by its name", {}, default=None)
    calls: tuple[Call, ...] = control("several calls in one answer", {"type": "array"}, default=())
    finish: str | None = control("say this and be done, as the agent wants it", _TEXT, default=None)
    broken_arguments: bool = control(
        "the calls' arguments are no JSON", {"type": "boolean"}, default=False
    )
    tokens: Tokens | None = control("reported use; absent: the script's", {}, default=None)
    usage: str = control(
        "once, as the wire format has it; missing; or cumulative: in every piece, growing",
        {"enum": ["once", "missing", "cumulative"]},
        default="once",
    )
    model: str | None = control("the model that answers", STRING, default=None)
    status: int | None = control(
        "answer with this HTTP status and an error",
        {"type": "integer", "minimum": 400, "maximum": 599},
        default=None,
    )
    headers: Mapping[str, str] | None = control(
        "further headers", {"type": "object", "additionalProperties": _TEXT}, default=None
    )
    cut: bool = control("hang up in the middle of the answer", {"type": "boolean"}, default=False)
    wait: float = control("before the answer", _SECONDS, unit="s", default=0)
    pace: float = control("between the pieces of a stream", _SECONDS, unit="s", default=0)
    times: int = control("how many requests get this answer", _TIMES, default=1)

    @property
    def wishes(self) -> tuple[Call, ...]:
        """All calls of the step, in order."""
        own = Call(self.write, self.run, self.read, self.tool)
        return (*(() if own == Call() else (own,)), *self.calls)


@dataclass(frozen=True)
class Script:
    """What an endpoint plays."""

    steps: tuple[Step, ...] = control("the answers, in order", {"type": "array", "minItems": 1})
    then: int | None = control(
        "behind the last step go back to this one, from 0; absent: the last one for ever",
        _COUNT,
        default=None,
    )
    model: str | None = control(
        "the model that answers; absent: the one asked for", STRING, default=None
    )
    tokens: Tokens = control("reported use of each answer", {}, default=Tokens())
    side: str = control(
        "what a request without tools gets beside one with tools: a title, a summary",
        _TEXT,
        default="A small task",
    )

    def step(self, number: int) -> Step:
        """Return the step that answers request `number`, from 0."""
        spelled = [step for step in self.steps for _ in range(step.times)]
        if number < len(spelled):
            return spelled[number]
        if self.then is None:
            return self.steps[-1]
        loop = [step for step in self.steps[self.then :] for _ in range(step.times)]
        return loop[(number - len(spelled)) % len(loop)]


def read_script(path: Path) -> Script:
    """Read a script, YAML or JSON.

    Raises:
        BadInput: names file, key, value and cure.
    """
    from frozenbench.config import read_yaml

    return parse_script(read_yaml(path, path.name), path.name)


def parse_script(data: Mapping[str, Any], where: str = "script") -> Script:
    """Make a script of a mapping.

    Raises:
        BadInput: names key, value and cure.
    """
    script = build(Script, data, where)
    if script.then is not None and script.then >= len(script.steps):
        raise BadInput(
            f"{where}: then: is {script.then}, and the last step is {len(script.steps) - 1}; "
            "cure: the number of a step, from 0"
        )
    for number, step in enumerate(script.steps):
        _check(step, f"{where}: steps.{number}")
    return script


def _check(step: Step, where: str) -> None:
    for place, call in enumerate(step.calls):
        given = [name for name in ("write", "run", "read", "tool") if getattr(call, name)]
        if len(given) != 1:
            raise BadInput(f"{where}: calls.{place}: cure: one of write, run, read, tool")
    own = [name for name in ("write", "run", "read", "tool", "calls") if getattr(step, name)]
    if len(own) > 1:
        raise BadInput(f"{where}: {own[1]}: stands beside {own[0]}; cure: put both below calls")
    if step.finish is not None and (own or step.say is not None):
        raise BadInput(f"{where}: finish: stands alone; cure: a step of its own")
    if step.status is not None and (own or step.say is not None or step.finish is not None):
        raise BadInput(f"{where}: status: an error answers nothing else; cure: two steps")
    if step.status is None and step.finish is None and not own and step.say is None:
        raise BadInput(f"{where}: says nothing; cure: one of say, write, run, read, calls, finish")
