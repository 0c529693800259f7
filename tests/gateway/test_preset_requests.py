"""What the six agents really asked (scrubbed), put to the gateway: metered, recorded, replayed.

So each preset's requests are tested where its agent is not installed. They are sent from inside a
box, byte by byte as they stand but for what differs between two runs: day, kernel, ids.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from typing import Any

import pytest
from cell_project import Cell, CellProject
from frozenbench.gateway import frozen_text
from frozenbench.preset_files import SHIPPED, read_preset
from frozenbench.scripted_endpoint import Script, parse_script, scripted_endpoint
from frozenbench.scripted_endpoint.server import Endpoint
from frozenbench.try_agent import DEFAULT_SCRIPT
from preset_requests import requests_of
from program_cells import events, used
from replayed_cells import GONE, another, same

pytestmark = pytest.mark.slow

SIX = ("aider", "claude-code", "codex", "mini-swe-agent", "opencode", "qwen-code")
six = pytest.mark.parametrize("preset", SIX)
MODEL = "scripted-1"
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic-messages": "/v1/messages?beta=true",
}
#: Tool calls and requests: aider has no tools, and mini-swe-agent is done by one call more.
EXPECTED = dict.fromkeys(SIX, (4, 4)) | {"aider": (0, 1), "mini-swe-agent": (5, 4)}

#: The day and the kernel that stand in the requests, and those of a later run elsewhere.
DAY, LATER = datetime.date(2026, 11, 30), datetime.date(2031, 2, 3)
RELEASE, OTHER_RELEASE = "6.1.0-18-amd64", "7.9.1-arch2-1"
VERSION, OTHER_VERSION = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1", "#7 SMP PREEMPT Tue Jan 7"

PLAYER = """
import http.client, json, sys
from urllib.parse import urlsplit
base, path, file = sys.argv[1:4]
host = urlsplit(base)
connection = http.client.HTTPConnection(host.hostname, host.port, timeout=60)
for request in json.load(open(file)):
    connection.request("POST", path, request["body"].encode(), request["headers"])
    response = connection.getresponse()
    data = response.read()
    said = "stopped" if b"used up" in data else "answer"
    print("got", response.status, said, response.headers.get("x-should-retry"), flush=True)
"""


def at_another_time(text: str) -> str:
    """Return a request as the same agent sends it on a later day, elsewhere."""
    for old, new in (
        (DAY.isoformat(), LATER.isoformat()),
        (DAY.strftime("%a %b %d %Y"), LATER.strftime("%a %b %d %Y")),
        (f"{DAY:%A, %B} {DAY.day}, {DAY.year}", f"{LATER:%A, %B} {LATER.day}, {LATER.year}"),
        (VERSION, OTHER_VERSION),
        (RELEASE, OTHER_RELEASE),
    ):
        text = text.replace(old, new)
    text = re.sub(r"00000000-(?=[0-9a-f]{4}-4000-8000-)", "1234abcd-", text)
    text = re.sub(r"(Chunk ID: )[0-9a-f]+", r"\g<1>0c0ffee", text)
    return re.sub(r"(Wall time: )\d+\.\d+", r"\g<1>3.1416", text)


def player(cells: CellProject, preset: str, root: str, later: bool = False) -> None:
    """Add an agent that sends a preset's requests, in their order, whatever it is answered."""
    wire = read_preset(SHIPPED, preset).wire
    sent = []
    for request in requests_of(preset):
        body = json.dumps(request["body"], ensure_ascii=False)
        sent.append({**request, "body": at_another_time(body) if later else body})
    cells.write({"requests.json": json.dumps(sent)}, "agents")
    cells.agent(
        PLAYER,
        adapter="program",
        argv=["python", "agents/agent.py", "{base_url}", PATHS[wire], "agents/requests.json"],
        code=["agents/agent.py", "agents/requests.json"],
        endpoint={"id": "scripted", "wire": wire, "model": MODEL, "base_url": root},
        temperature=0.25,
        seed=7,
    )


def on(monkeypatch: pytest.MonkeyPatch, day: datetime.date, release: str, version: str) -> None:
    """Let it be another day, on another kernel."""
    kernel = os.uname()
    faked = os.uname_result((kernel[0], kernel[1], release, version, kernel[4]))
    monkeypatch.setattr(frozen_text, "utc_day", lambda: day)
    monkeypatch.setattr(os, "uname", lambda: faked)


def played(
    cells: CellProject, preset: str, monkeypatch: pytest.MonkeyPatch, script: Script
) -> tuple[Cell, Endpoint]:
    on(monkeypatch, DAY, RELEASE, VERSION)
    with scripted_endpoint(script) as endpoint:
        player(cells, preset, endpoint.root)
        return cells.run(), endpoint


def script_of(**changes: Any) -> Script:
    return parse_script({**DEFAULT_SCRIPT, "model": MODEL, **changes})


@six
def test_requests_are_metered_recorded_and_replayed_on_a_later_day(
    cells: CellProject, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.budget(max_tool_calls=9, max_tokens=5000)
    first, endpoint = played(cells, preset, monkeypatch, script_of())
    calls, requests = EXPECTED[preset]
    assert (first.run["ending"], len(endpoint.served)) == ("finished", requests), first.log
    assert used(first, "tool_calls", "model_calls", "tokens") == (calls, requests, 110 * requests)
    assert len(events(first, "response")) == requests
    assert [first.log.count(f"got {status}") for status in (200, 400)] == [requests, 0]

    for given, forwarded in zip(requests_of(preset), endpoint.served, strict=True):
        told = json.dumps(forwarded.body)
        for frozen in (DAY.isoformat(), f"{DAY:%b %d %Y}", f"{DAY:%B} {DAY.day}", RELEASE, VERSION):
            assert frozen not in told
        assert forwarded.body["model"] == MODEL
        assert forwarded.body["temperature"] == 0.25
        assert ("seed" in forwarded.body) == (forwarded.wire == "openai-chat")
        assert forwarded.headers.get("anthropic-beta") == given["headers"].get("anthropic-beta")
        assert forwarded.body.get("tools") == given["body"].get("tools")
        body = json.dumps(given["body"], ensure_ascii=False)
        assert (at_another_time(body) == body) == (preset == "aider")
    schema = first.run["gateway"]["tools_sha256"]
    assert (schema is None) == (preset == "aider")

    again_here = another(cells, monkeypatch, first)
    on(monkeypatch, LATER, OTHER_RELEASE, OTHER_VERSION)
    player(again_here, preset, GONE, later=True)
    again = again_here.run(replay=True)
    same(first, again)
    assert "drift" not in again.run
    assert again.run["gateway"]["tools_sha256"] == schema
    assert again.run["measured"]["responses_live"] == 0


@pytest.mark.parametrize("preset", [name for name in SIX if name != "aider"])
def test_the_cap_on_tool_calls_holds_in_each_agent_s_own_words(
    cells: CellProject, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.budget(max_tool_calls=3)  # the third answer holds two calls: withheld whole
    cell, endpoint = played(cells, preset, monkeypatch, script_of())
    assert cell.run["ending"] == "cap:tool_calls"
    assert used(cell, "tool_calls", "tokens", "tokens_undelivered") == (2, 220, 110)
    assert len(endpoint.served) == 3
    got = re.findall(r"got (\d+) (\w+) (\w+)", cell.log)
    assert got == [
        ("200", "answer", "None"),
        ("200", "answer", "None"),
        ("200", "stopped", "None"),
        ("400", "stopped", "false"),
    ]


@six
def test_a_cap_on_tokens_and_faults_of_the_endpoint(
    cells: CellProject, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.budget(max_tokens=109)
    faults = [{"status": 429}, {"say": "Cut off.", "cut": True}, {"status": 500}]
    script = script_of(steps=[*faults, *DEFAULT_SCRIPT["steps"]])
    cell, endpoint = played(cells, preset, monkeypatch, script)
    assert cell.run["ending"] == "cap:tokens"
    assert used(cell, "tool_calls", "tokens", "tokens_undelivered") == (0, 0, 110)
    assert cell.run["measured"]["infra_retries"] == 3
    assert len(endpoint.served) == 4
