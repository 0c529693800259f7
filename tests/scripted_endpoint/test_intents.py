"""One script, and tools of every shape that agents were seen to offer."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from frozenbench.scripted_endpoint.intents import Asked, spell
from frozenbench.scripted_endpoint.script import Step, parse_script
from hypothesis import given
from hypothesis import strategies as st


def step(**fields: Any) -> Step:
    return parse_script({"steps": [fields]}).steps[0]


def tool(name: str, *required: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TEXT = {"type": "string"}
BASH = tool("bash", "command", command=TEXT)


def asked(one: Step, *tools: Any, **body: Any) -> Asked:
    (call,) = spell(one, {"tools": list(tools), **body}, "/work")[1]
    return call


WRITE = {"path": "pkg/app.py", "content": "x = 'a'\n"}


@pytest.mark.parametrize(
    ("offered", "arguments"),
    [
        (tool("Write", file_path=TEXT, content=TEXT), ("file_path", "content")),
        (tool("write", filePath=TEXT, content=TEXT), ("filePath", "content")),
        (tool("create", path=TEXT, file_text=TEXT), ("path", "file_text")),
    ],
)
def test_a_file_is_written_by_the_tool_that_takes_path_and_content(
    offered: Any, arguments: tuple[str, str]
) -> None:
    edit = tool("Edit", file_path=TEXT, old_string=TEXT, content=TEXT)
    call = asked(step(write=WRITE), BASH, edit, offered)
    assert call.name == offered["function"]["name"]
    assert call.arguments == dict(
        zip(arguments, ("/work/pkg/app.py", WRITE["content"]), strict=True)
    )


def test_a_patch_tool_takes_the_file_as_free_text() -> None:
    call = asked(step(write=WRITE), {"type": "custom", "name": "apply_patch"})
    assert call.name == "apply_patch"
    assert "*** Add File: pkg/app.py\n+x = 'a'\n*** End Patch" in str(call.arguments)


def test_a_command_is_put_as_the_tool_wants_it() -> None:
    array = {"type": "array", "items": TEXT}
    assert asked(step(run="ls"), BASH).arguments == {"command": "ls"}
    assert asked(step(run="ls"), tool("exec_command", cmd=TEXT)).arguments == {"cmd": "ls"}
    listed = asked(step(run="ls"), tool("shell", command=array))
    assert listed.arguments == {"command": ["bash", "-lc", "ls"]}


def test_what_a_tool_requires_beside_is_filled_in() -> None:
    flag, kind, number = (
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"type": "integer", "minimum": 5},
    )
    required = ("command", "background", "kind", "number", "why")
    fields = {"background": flag, "kind": kind, "number": number, "why": TEXT, "not_needed": TEXT}
    call = asked(step(run="ls"), tool("run", *required, command=TEXT, **fields))
    assert call.arguments == {
        "command": "ls",
        "background": False,
        "kind": "a",
        "number": 5,
        "why": "scripted",
    }


def test_tools_in_a_namespace_keep_it() -> None:
    inner = {"type": "function", "name": "exec", "parameters": BASH["function"]["parameters"]}
    group = {"type": "namespace", "name": "machine", "tools": [inner]}
    call = asked(step(run="ls"), {"type": "web_search"}, group)
    assert (call.name, call.namespace) == ("exec", "machine")


def test_a_file_is_read_by_a_reader_else_by_the_shell() -> None:
    reader = tool("Read", "file_path", file_path=TEXT, limit=TEXT)
    assert asked(step(read="a.py"), BASH, reader).arguments == {"file_path": "/work/a.py"}
    assert asked(step(read="a b.py"), BASH).arguments == {"command": "cat 'a b.py'"}


def test_a_tool_may_be_called_by_its_own_name() -> None:
    call = asked(step(tool={"name": "Task", "arguments": {"x": [1]}}), BASH)
    assert (call.name, call.arguments) == ("Task", {"x": [1]})


@given(st.text(min_size=0, max_size=40))
def test_the_shell_writes_any_content(tmp_path_factory: Any, content: str) -> None:
    if "\0" in content or any("\ud800" <= sign <= "\udfff" for sign in content):
        return  # no shell word holds these
    folder: Path = tmp_path_factory.mktemp("work")
    call = asked(step(write={"path": "in ner/a.py", "content": content}), BASH)
    assert isinstance(call.arguments, dict)
    subprocess.run(["bash", "-c", call.arguments["command"]], cwd=folder, check=True)
    assert (folder / "in ner" / "a.py").read_bytes() == content.encode()


def test_an_agent_that_is_done_by_a_command_gets_that_command() -> None:
    said = [{"role": "user", "content": "run `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`"}]
    call = asked(step(finish="Done."), BASH, messages=said)
    assert call.arguments == {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
    assert spell(step(finish="Done."), {"tools": [BASH], "messages": []}, "/work") == ("Done.", ())


def test_without_tools_a_command_stands_in_the_block_that_was_asked_for() -> None:
    said = [{"role": "system", "content": "Answer with one block:\n```mswea_bash_command\n…\n```"}]
    text, calls = spell(step(say="I look.", run="ls -la"), {"messages": said}, "/work")
    assert (text, calls) == ("I look.\n\n```mswea_bash_command\nls -la\n```", ())
    plain, _ = spell(step(run="ls -la"), {"messages": []}, "/work")
    assert "```" not in plain, "a block without a name would be taken for a file"
    assert shlex.split(json.dumps(plain))


def test_where_nothing_fits_the_shell_is_tried_by_its_usual_name() -> None:
    call = asked(step(run="ls"), tool("think", thought=TEXT))
    assert (call.name, call.arguments) == ("bash", {"command": "ls"})
