"""From what a script wants to the tool that this request offers for it.

One script fits agents whose tools have other names: a tool is known by the shape of its arguments.
Where no tool fits, a file is written by the shell; where there are no tools at all, by a named
block of text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frozenbench.scripted_endpoint.offered import Body, Offered, all_text, offered_tools
from frozenbench.scripted_endpoint.script import Call, Step, Write

_PATHS = ("file_path", "filePath", "absolute_path", "path", "filename", "file", "target_file")
_CONTENTS = ("content", "contents", "file_text", "text")
_COMMANDS = ("command", "cmd")
_PARTIAL = ("old_string", "oldString", "old_str", "diff", "patch", "line", "insert_line")

#: Names of tools that read a text file; one that shows a picture is none.
_READER = re.compile("^(?!.*image).*(read|view|open)", re.IGNORECASE)

#: A word in a request -> the command by which that agent wants to be told that all is done.
_FINISHES = {"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}


@dataclass(frozen=True)
class Asked:
    """A tool call as it goes out: `arguments` is an object, or the free text of a custom tool."""

    name: str
    arguments: Mapping[str, Any] | str
    namespace: str | None = None


def spell(step: Step, body: Body, work: str) -> tuple[str, tuple[Asked, ...]]:
    """Return the text and the tool calls with which a step answers a request.

    Args:
        step: what is wanted.
        body: the request.
        work: the work folder's path as the agent sees it: some tools want whole paths.
    """
    tools = offered_tools(body)
    text, wishes = step.say or "", step.wishes
    if step.finish is not None:
        text, wishes = step.finish, _finish(body)
    if not tools:
        blocks = [_block(wish, body) for wish in wishes]
        return "\n\n".join(part for part in (text, *blocks) if part), ()
    asked = [_ask(wish, tools, work) for wish in wishes]
    return text, tuple(asked)


def _finish(body: Body) -> tuple[Call, ...]:
    said = all_text(body)
    return tuple(Call(run=command) for word, command in _FINISHES.items() if word in said)


def _ask(wish: Call, tools: Sequence[Offered], work: str) -> Asked:
    if wish.tool is not None:
        known = {tool.name: tool for tool in tools}
        found = known.get(wish.tool.name)
        return Asked(wish.tool.name, wish.tool.arguments, found.namespace if found else None)
    if wish.write is not None:
        return _write(wish.write, tools, work)
    if wish.read is not None:
        return _read(wish.read, tools, work)
    return _run(str(wish.run), tools)


def _write(wish: Write, tools: Sequence[Offered], work: str) -> Asked:
    for tool in tools:
        path, content = _first(tool, _PATHS), _first(tool, _CONTENTS)
        if path and content and not _first(tool, _PARTIAL):
            return _filled(tool, {path: f"{work}/{wish.path}", content: wish.content})
    for tool in tools:
        if tool.free and "patch" in tool.name:
            lines = "".join(f"+{line}\n" for line in wish.content.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {wish.path}\n{lines}*** End Patch\n"
            return Asked(tool.name, patch, tool.namespace)
    return _run(_writing(wish), tools)


def _writing(wish: Write) -> str:
    path, folder = shlex.quote(wish.path), wish.path.rpartition("/")[0]
    made = f"mkdir -p {shlex.quote(folder)} && " if folder else ""
    return f"{made}printf %s {shlex.quote(wish.content)} > {path}"


def _read(path: str, tools: Sequence[Offered], work: str) -> Asked:
    for tool in tools:
        name = _first(tool, _PATHS)
        other = _first(tool, (*_CONTENTS, *_COMMANDS, *_PARTIAL))
        if name and not other and _READER.search(tool.name):
            return _filled(tool, {name: f"{work}/{path}"})
    return _run(f"cat {shlex.quote(path)}", tools)


def _run(command: str, tools: Sequence[Offered]) -> Asked:
    for tool in tools:
        name = _first(tool, _COMMANDS)
        if name and not _first(tool, _PATHS):
            wanted = tool.properties[name]
            listed = isinstance(wanted, Mapping) and wanted.get("type") == "array"
            return _filled(tool, {name: ["bash", "-lc", command] if listed else command})
    return Asked("bash", {"command": command})  # what it does with an unknown tool is its own


def _first(tool: Offered, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in tool.properties), None)


def _filled(tool: Offered, arguments: Mapping[str, Any]) -> Asked:
    """Add what the tool requires beside what is wanted."""
    more = {
        name: _some(tool.properties.get(name)) for name in tool.required if name not in arguments
    }
    return Asked(tool.name, {**arguments, **more}, tool.namespace)


def _some(schema: Any) -> Any:
    """Return a harmless value of a schema."""
    if not isinstance(schema, Mapping):
        return "scripted"
    if schema.get("enum"):
        return schema["enum"][0]
    kinds = {
        "boolean": False,
        "integer": schema.get("minimum", 1),
        "number": schema.get("minimum", 1),
        "array": [],
        "object": {},
    }
    return kinds.get(str(schema.get("type")), "scripted")


def _block(wish: Call, body: Body) -> str:
    """Return a wish as text, for an agent that offers no tools."""
    if wish.write is not None:
        return f"{wish.write.path}\n```\n{wish.write.content.rstrip()}\n```"
    command = wish.run or f"cat {shlex.quote(wish.read or '')}"
    fence = _fence(body)
    return f"```{fence}\n{command}\n```" if fence else f"I would run: {command}"


def _fence(body: Body) -> str | None:
    """Return the info string of command blocks that the request asks for, or None.

    Elsewhere a block would be taken for a file's content.
    """
    asked = re.findall(r"```(\w*bash\w*)", all_text(body))
    return str(asked[0]) if asked else None
