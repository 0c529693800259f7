"""One script, put to requests that six agents really made (scrubbed): each gets its own tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from frozenbench.scripted_endpoint import parse_script, scripted_endpoint
from frozenbench.scripted_endpoint.intents import Asked, spell
from preset_requests import requests_of
from wire_client import post, read_answer

APP = "def add(a, b):\n    return a + b\n"
SCRIPT = parse_script(
    {
        "steps": [
            {"write": {"path": "app.py", "content": APP}},
            {"run": "ls"},
            {"read": "app.py"},
            {"finish": "Done."},
        ]
    }
)
#: Agent -> wire format, and the tools that write, run and read.
TOOLS = {
    "claude-code": ("anthropic-messages", "Write", "Bash", "Read"),
    "codex": ("openai-responses", "exec_command", "exec_command", "exec_command"),
    "opencode": ("openai-chat", "write", "bash", "read"),
    "qwen-code": ("openai-chat", "write_file", "run_shell_command", "read_file"),
    "mini-swe-agent": ("openai-chat", "bash", "bash", "bash"),
}


def requests(agent: str) -> list[dict[str, Any]]:
    return [item["body"] for item in requests_of(agent)]


@pytest.mark.parametrize("agent", TOOLS)
def test_a_wish_goes_to_the_tool_that_the_agent_offers(agent: str) -> None:
    wire, *wanted = TOOLS[agent]
    body = requests(agent)[0]
    with scripted_endpoint(SCRIPT) as endpoint:
        got = [read_answer(wire, post(endpoint.root, wire, body)) for _ in "123"]
    assert [calls[0][0] for _, calls, *_ in got] == wanted
    assert all(APP.strip() in json.loads(got[0][1][0][1])[key] for key in _content_of(got[0][1][0]))


def _content_of(call: tuple[str, str]) -> list[str]:
    arguments = json.loads(call[1])
    return [key for key in ("content", "command", "cmd") if key in arguments]


@pytest.mark.parametrize("agent", TOOLS)
def test_what_a_tool_requires_is_given(agent: str) -> None:
    body = requests(agent)[0]
    schemas = {
        item.get("function", item)["name"]: item.get("function", item)
        for item in body["tools"]
        if "name" in item.get("function", item)
    }
    for step in SCRIPT.steps[:3]:
        call: Asked = spell(step, body, "/work")[1][0]
        schema = schemas[call.name].get("parameters") or schemas[call.name]["input_schema"]
        assert isinstance(call.arguments, dict)
        assert set(schema.get("required", ())) <= set(call.arguments) <= set(schema["properties"])


def test_each_agent_is_told_that_it_is_done_as_it_wants_it() -> None:
    done = SCRIPT.steps[3]
    for agent in TOOLS:
        text, calls = spell(done, requests(agent)[0], "/work")
        assert text == "Done."
        assert bool(calls) == (agent == "mini-swe-agent"), agent


def test_an_agent_that_edits_by_text_gets_a_named_block() -> None:
    (body,) = requests("aider")
    text, calls = spell(SCRIPT.steps[0], body, "/work")
    assert (text, calls) == (f"app.py\n```\n{APP.rstrip()}\n```", ())
