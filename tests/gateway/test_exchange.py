from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters.contract import Cell, ClockFell, PinDrift, Use
from frozenbench.canonical import BadInput, canonical_json, digest
from frozenbench.gateway.exchange import ask
from frozenbench.gateway.record import Store
from scripted_endpoint import MODEL, chat_body, model_cell, says, scripted, slow, status

REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}], "seed": 3}


def fresh(cell: Cell, **changes: Any) -> Cell:
    """Return the cell with a clock of its own."""
    return replace(model_cell(cell.responses.parent, "http://127.0.0.1:1"), **changes)


def test_asked_once_then_served(tmp_path: Path) -> None:
    with scripted(slow(0.3, says("hello"))) as endpoint:
        first = model_cell(tmp_path, endpoint.root)
        body, served, use = ask(first, REQUEST, 0)
        assert body == chat_body("hello")
        assert use == Use(18, 11, 7, None)
        assert (served.recorded, served.model, served.infra_retries) == (False, MODEL, 0)
        second = model_cell(tmp_path, endpoint.root)
        again, replayed, same_use = ask(second, REQUEST, 0)
    assert (again, same_use) == (body, use)
    assert replayed == replace(served, recorded=True)
    assert len(endpoint.requests) == 1
    # both clocks hold the time that the endpoint took, and hardly more
    assert served.seconds >= 0.3
    for cell in (first, second):
        assert served.seconds <= cell.clock.elapsed() < served.seconds + 1.0


def test_a_served_cell_asks_nobody(tmp_path: Path) -> None:
    with scripted() as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        ask(cell, REQUEST, 0)
    assert ask(fresh(cell), REQUEST, 0)[1].recorded


def test_what_stands_in_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-secret-1")
    with scripted() as endpoint:
        connection = {"endpoint": {"base_url": endpoint.root, "key_env": "TEST_KEY"}}
        cell = model_cell(tmp_path, endpoint.root, connection=connection, sheet={"salt": "s"})
        _, served, _ = ask(cell, REQUEST, 2)
    (path,) = [item for item in (tmp_path / "responses").rglob("*") if item.is_file()]
    text = path.read_bytes()
    found = json.loads(text)
    assert text == canonical_json(found) + b"\n"
    assert found == {
        "key": served.key,
        "material": {
            "endpoint": digest(cell.sheet["endpoint"]),
            "task": cell.task_digest,
            "repeat": 0,
            "salt": "s",
            "request": REQUEST,
            "occurrence": 2,
        },
        "response": chat_body("ok"),
        "seconds": served.seconds,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine_class": None,  # the machine is not ours
        "model": MODEL,
    }
    assert path.stem == served.key == digest(found["material"])
    for secret in (b"sk-secret-1", b"TEST_KEY", endpoint.root.encode(), cell.run_key.encode()):
        assert secret not in text


def test_address_and_key_name_are_in_no_key(tmp_path: Path) -> None:
    with scripted() as one, scripted() as two:
        ask(model_cell(tmp_path, one.root), REQUEST, 0)
        assert ask(model_cell(tmp_path, two.root), REQUEST, 0)[1].recorded
    assert two.requests == []


OTHERS: dict[str, dict[str, Any]] = {
    "repeat": {"repeat": 1},
    "task": {"task_digest": "another"},
    "salt": {"sheet": {"salt": "another"}},
    "endpoint": {"sheet": {"endpoint": {"id": "b", "wire": "openai-chat", "model": MODEL}}},
    "policy": {"responses_policy": "independent"},
}


@pytest.mark.parametrize("other", OTHERS)
def test_who_is_asked_again(tmp_path: Path, other: str) -> None:
    with scripted() as endpoint:
        ask(model_cell(tmp_path, endpoint.root), REQUEST, 0)
        _, served, _ = ask(model_cell(tmp_path, endpoint.root, **dict(OTHERS[other])), REQUEST, 0)
    assert not served.recorded
    assert len(endpoint.requests) == 2


def test_an_occurrence_is_asked_again(tmp_path: Path) -> None:
    with scripted(says("one"), says("two")) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        assert [ask(cell, REQUEST, n)[0] for n in (0, 1, 0)] == [
            chat_body("one"),
            chat_body("two"),
            chat_body("one"),
        ]


@pytest.mark.parametrize(("policy", "requests"), [("shared", 1), ("independent", 2)])
def test_budgets_share_answers_or_do_not(tmp_path: Path, policy: str, requests: int) -> None:
    with scripted() as endpoint:
        for calls in (1, 2, 2):
            cell = model_cell(
                tmp_path,
                endpoint.root,
                caps={"tool_calls": calls, "wall_clock": 60},
                responses_policy=policy,
            )
            ask(cell, REQUEST, 0)
    assert len(endpoint.requests) == requests


def test_two_that_ask_the_same_at_the_same_time(tmp_path: Path) -> None:
    with scripted(slow(0.5, says("one")), slow(0.5, says("two"))) as endpoint:
        cells = [model_cell(tmp_path, endpoint.root) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda cell: ask(cell, REQUEST, 0), cells))
    assert len(endpoint.requests) == 1
    assert [body for body, _, _ in answers] == [chat_body("one")] * 4
    assert sorted(served.recorded for _, served, _ in answers) == [False, True, True, True]


ASK = """
import sys
from pathlib import Path
from frozenbench.gateway.exchange import ask
from scripted_endpoint import model_cell
body, served, _ = ask(model_cell(Path(sys.argv[1]), sys.argv[2]), {"seed": 1}, 0)
print(served.recorded, body["choices"][0]["message"]["content"])
"""


def asker(folder: Path, root: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASK, str(folder), root],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
    )


def test_two_processes_one_killed_while_it_asks(tmp_path: Path) -> None:
    with scripted(slow(30, says("never")), says("second")) as endpoint:
        first = asker(tmp_path, endpoint.root)
        while not endpoint.requests:
            time.sleep(0.01)
        second = asker(tmp_path, endpoint.root)
        time.sleep(0.3)
        assert second.poll() is None  # it waits for the first
        first.kill()
        told, _ = second.communicate(timeout=10)
        first.communicate()
    assert told == "False second\n"


def test_waiting_for_another_cell_is_off_the_clock(tmp_path: Path) -> None:
    with scripted(slow(0.2, says("ok"))) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        _, served, _ = ask(cell, REQUEST, 0)
    store = Store(cell.responses)
    store.path(served.key).unlink()
    waiting = fresh(cell)
    with ThreadPoolExecutor(1) as pool, scripted() as endpoint:
        waiting = replace(waiting, connection={"endpoint": {"base_url": endpoint.root}})
        with store.lock(served.key):
            asked = pool.submit(ask, waiting, REQUEST, 0)
            time.sleep(1.0)
        asked.result()
    assert waiting.clock.elapsed() < 0.9


def test_backoff_is_off_the_clock(tmp_path: Path) -> None:
    with scripted(status(429, retry_after="1"), says("ok")) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        _, served, _ = ask(cell, REQUEST, 0)
    assert served.infra_retries == 1
    assert cell.clock.elapsed() < 0.9


def test_the_clock_falls_and_nothing_is_stored(tmp_path: Path) -> None:
    with scripted(slow(3, says("late"))) as endpoint:
        cell = model_cell(tmp_path, endpoint.root, caps={"wall_clock": 0.4})
        with pytest.raises(ClockFell):
            ask(cell, REQUEST, 0)
    assert cell.clock.elapsed() >= 0.4
    assert Store(cell.responses).keys() == []


def test_an_answer_that_took_too_long_when_it_was_recorded(tmp_path: Path) -> None:
    with scripted(slow(0.5, says("ok"))) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        ask(cell, REQUEST, 0)
    poor = fresh(cell, caps={"wall_clock": 0.3})
    with pytest.raises(ClockFell):
        ask(poor, REQUEST, 0)
    assert poor.clock.elapsed() > 0.3


def test_a_record_of_another_model(tmp_path: Path) -> None:
    with scripted() as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        _, served, _ = ask(cell, REQUEST, 0)
    path = Store(cell.responses).path(served.key)
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "scripted-2"}))
    with pytest.raises(PinDrift, match="scripted-2"):
        ask(fresh(cell), REQUEST, 0)


def test_a_request_that_the_model_cannot_take_is_an_answer(tmp_path: Path) -> None:
    error = {"error": {"message": "too long", "type": "exceed_context_size_error", "code": 400}}
    with scripted(status(400, error)) as endpoint:
        cell = model_cell(tmp_path, endpoint.root)
        body, served, use = ask(cell, REQUEST, 0)
    assert (body, served.model, use) == (error, None, Use(0, 0, 0, 0))
    assert ask(fresh(cell), REQUEST, 0)[0] == error


def test_no_way_to_the_endpoint(tmp_path: Path) -> None:
    cell = model_cell(tmp_path, "", connection={})
    with pytest.raises(BadInput, match="base_url: is missing; cure: "):
        ask(cell, REQUEST, 0)


REPLAY = """
import sys
from pathlib import Path
from frozenbench.adapters import chat
from frozenbench.adapters.contract import Turn
from scripted_endpoint import model_cell
with chat.open_agent(model_cell(Path(sys.argv[1]), "http://127.0.0.1:1")) as agent:
    assert agent.propose(Turn(0, {}, (), 60.0)).served.recorded
heavy = {"urllib3", "xllamacpp", "yaml", "jsonschema", "pandas"}
print(sorted(heavy & set(sys.modules)))
"""


def test_a_replay_imports_no_client_and_no_engine(tmp_path: Path) -> None:
    from frozenbench.adapters import chat
    from frozenbench.adapters.contract import Turn

    with scripted() as endpoint, chat.open_agent(model_cell(tmp_path, endpoint.root)) as agent:
        agent.propose(Turn(0, {}, (), 60.0))
    code = [sys.executable, "-c", REPLAY, str(tmp_path)]
    env = {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(code, capture_output=True, text=True, env=env, check=True)
    assert done.stdout == "[]\n"


def test_threads_of_the_deadline_end_with_the_exchange(tmp_path: Path) -> None:
    with scripted() as endpoint:
        ask(model_cell(tmp_path, endpoint.root), REQUEST, 0)
        time.sleep(0.05)
        assert not [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
