"""What the scripted endpoint answers, in three wire formats, streamed and not."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput
from frozenbench.scripted_endpoint import Script, parse_script, scripted_endpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_client import WIRES, get, post, post_by_socket, read_answer, request

EVERY_WIRE = pytest.mark.parametrize("wire", WIRES)
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
TOTALS = {
    "openai-chat": ("prompt_tokens", "completion_tokens"),
    "openai-responses": ("input_tokens", "output_tokens"),
    "anthropic-messages": ("input_tokens", "output_tokens"),
}


def script(*steps: dict, **more: object) -> Script:
    return parse_script({"steps": list(steps), **more})


@EVERY_WIRE
@BOTH_WAYS
def test_a_script_is_played_step_by_step_and_its_last_one_for_ever(wire: str, stream: bool) -> None:
    played = script({"say": "Looking."}, {"run": "ls"}, {"finish": "Done."})
    with scripted_endpoint(played) as endpoint:
        got = [
            read_answer(wire, post(endpoint.root, wire, request(wire, stream=stream)))
            for _ in "1234"
        ]
    assert [text for text, *_ in got] == ["Looking.", "", "Done.", "Done."]
    assert [[name for name, _ in calls] for _, calls, *_ in got] == [[], ["Shell"], [], []]
    assert json.loads(got[1][1][0][1])["command"] == "ls"
    assert {model for *_, model in got} == {"asked-1"}


@EVERY_WIRE
@BOTH_WAYS
def test_parallel_calls_come_in_one_answer_in_order(wire: str, stream: bool) -> None:
    write = {"write": {"path": "a/b.py", "content": "x = 'ä'\n"}}
    played = script({"say": "Both.", "calls": [{"run": "ls"}, write, {"run": "pwd"}]})
    with scripted_endpoint(played, work="/there") as endpoint:
        got = post(endpoint.root, wire, request(wire, stream=stream))
    text, calls, _, _ = read_answer(wire, got)
    assert text == "Both."
    assert [name for name, _ in calls] == ["Shell", "Save", "Shell"]
    assert json.loads(calls[1][1]) == {"file_path": "/there/a/b.py", "content": "x = 'ä'\n"}


@EVERY_WIRE
@BOTH_WAYS
def test_usage_is_what_the_script_says(wire: str, stream: bool) -> None:
    tokens = {"input": 70, "output": 9, "cached": 30}
    with scripted_endpoint(script({"say": "ok", "tokens": tokens})) as endpoint:
        _, _, usage, _ = read_answer(wire, post(endpoint.root, wire, request(wire, stream=stream)))
    given, written = (usage[name] for name in TOTALS[wire])
    assert written == 9
    if wire == "anthropic-messages":  # there, what was cached stands apart
        assert (given, usage["cache_read_input_tokens"]) == (70, 30)
    else:
        assert (given, usage["total_tokens"]) == (100, 109)


@EVERY_WIRE
@BOTH_WAYS
def test_missing_usage_is_in_no_part_of_the_answer(wire: str, stream: bool) -> None:
    with scripted_endpoint(script({"say": "ok", "usage": "missing"})) as endpoint:
        got = post(endpoint.root, wire, request(wire, stream=stream))
    assert '"usage"' not in json.dumps([got.body, got.events])


@EVERY_WIRE
def test_cumulative_usage_grows_and_ends_at_the_total(wire: str) -> None:
    played = script({"say": "one two three", "run": "ls", "usage": "cumulative"})
    with scripted_endpoint(played) as endpoint:
        got = post(endpoint.root, wire, request(wire, stream=True))
    found = []
    for _, event in got.events:
        holder = event if isinstance(event, dict) else {}
        usage = holder.get("usage") or holder.get("response", {}).get("usage")
        usage = usage or holder.get("message", {}).get("usage")
        if usage:
            found.append(usage[TOTALS[wire][1]])
    assert len(found) > 2
    assert found == sorted(found)
    assert found[-1] == 10


def test_streamed_chat_tells_its_usage_only_where_it_is_asked() -> None:
    body = request("openai-chat", stream=True)
    del body["stream_options"]
    with scripted_endpoint(script({"say": "ok"})) as endpoint:
        got = post(endpoint.root, "openai-chat", body)
    assert all("usage" not in event for _, event in got.events if event != "[DONE]")


@EVERY_WIRE
@BOTH_WAYS
def test_another_model_may_answer(wire: str, stream: bool) -> None:
    played = script({"say": "ok"}, {"say": "ok", "model": "other-2"}, {"say": "ok"}, model="mine-1")
    with scripted_endpoint(played) as endpoint:
        models = [
            read_answer(wire, post(endpoint.root, wire, request(wire, stream=stream)))[3]
            for _ in "123"
        ]
    assert models == ["mine-1", "other-2", "mine-1"]


def test_events_are_named_and_numbered_as_their_format_wants() -> None:
    with scripted_endpoint(script({"say": "ok", "run": "ls"})) as endpoint:
        chat, responses, messages = (
            post(endpoint.root, wire, request(wire, stream=True)) for wire in WIRES
        )
    assert chat.events[-1] == ("", "[DONE]")
    assert chat.events[-3][1]["choices"][0]["finish_reason"] == "tool_calls"
    assert [name for name, _ in responses.events] == [e["type"] for _, e in responses.events]
    numbers = [event["sequence_number"] for _, event in responses.events]
    assert numbers == list(range(len(numbers)))
    assert responses.events[-1][0] == "response.completed"
    assert messages.events[0][0] == "message_start"
    assert messages.events[-1][0] == "message_stop"
    assert messages.events[-2][1]["delta"]["stop_reason"] == "tool_use"


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(WIRES), st.booleans())
def test_any_text_arrives_as_it_was_written(
    say: str, content: str, wire: str, stream: bool
) -> None:
    write = {"path": "a.py", "content": content}
    with scripted_endpoint(script({"say": say, "write": write})) as endpoint:
        text, calls, _, _ = read_answer(
            wire, post(endpoint.root, wire, request(wire, stream=stream))
        )
    assert text == say
    assert json.loads(calls[0][1])["content"] == content


def test_a_request_without_tools_beside_one_with_tools_takes_no_step() -> None:
    played = script({"run": "ls"}, {"finish": "Done."}, side="A title")
    with scripted_endpoint(played) as endpoint:
        sent = [request("openai-chat", offer=offer) for offer in (True, False, True)]
        got = [read_answer("openai-chat", post(endpoint.root, "openai-chat", b)) for b in sent]
        assert [text for text, *_ in got] == ["", "A title", "Done."]
        assert [served.step for served in endpoint.served] == [0, None, 1]


def test_an_agent_that_offers_no_tools_gets_every_step_as_text() -> None:
    played = script({"write": {"path": "app.py", "content": "x = 1\n"}}, {"say": "Done."})
    with scripted_endpoint(played) as endpoint:
        sent = [request("openai-chat", offer=False) for _ in "12"]
        got = [read_answer("openai-chat", post(endpoint.root, "openai-chat", b)) for b in sent]
    assert got[0][0] == "app.py\n```\nx = 1\n```"
    assert got[1][0] == "Done."


def test_what_stands_beside_the_answers() -> None:
    with scripted_endpoint(script({"say": "ok"}, model="m-1")) as endpoint:
        assert json.loads(get(endpoint.root, "/v1/models").body)["data"][0]["id"] == "m-1"
        assert get(endpoint.root, "/health").status == 200
        assert get(endpoint.root, "/nothing").status == 404
        counted = post(endpoint.root, "", {"messages": ["x" * 400]}, "/v1/messages/count_tokens")
        assert counted.body["input_tokens"] > 90
        assert post(endpoint.root, "", {}, "/v1/other").status == 404
        assert endpoint.served == []


def test_what_was_served_is_told_line_by_line() -> None:
    with scripted_endpoint(script({"run": "ls"}, {"status": 429})) as endpoint:
        post(endpoint.root, "openai-chat", request("openai-chat", stream=True))
        post(endpoint.root, "anthropic-messages", request("anthropic-messages"))
        told = get(endpoint.root, "/served").body.splitlines()
        assert told == endpoint.lines()
        assert "openai-chat  streamed  model asked-1" in told[0]
        assert "2 tools -> step 0: HTTP 200, Shell" in told[0]
        assert "step 1: HTTP 429" in told[1]
        endpoint.reset()
        assert endpoint.lines() == []
        again = post(endpoint.root, "openai-chat", request("openai-chat"))
        assert read_answer("openai-chat", again)[1][0][0] == "Shell"


def test_a_unix_socket_serves_as_a_port_does(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with scripted_endpoint(script({"say": "ok"}), unix=path) as endpoint:
        got = post_by_socket(endpoint.root, "openai-chat", request("openai-chat", stream=True))
        assert read_answer("openai-chat", got)[0] == "ok"
        with (
            pytest.raises(BadInput, match=r"cannot be served on .*cure"),
            scripted_endpoint(script({"say": "ok"}), unix=path),
        ):
            pass
    assert not path.exists()


def test_requests_at_one_time_take_each_a_step_of_their_own() -> None:
    steps = [{"say": str(number)} for number in range(40)]
    said: list[str] = []
    with scripted_endpoint(script(*steps)) as endpoint:

        def ask() -> None:
            for _ in range(10):
                got = post(endpoint.root, "openai-chat", request("openai-chat"))
                said.append(read_answer("openai-chat", got)[0])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(said, key=int) == [str(number) for number in range(40)]
