"""The faults that a script can hold, as a client meets them."""

from __future__ import annotations

import json
import time

import pytest
from frozenbench.scripted_endpoint import Script, parse_script, scripted_endpoint
from wire_client import WIRES, post, read_answer, request

EVERY_WIRE = pytest.mark.parametrize("wire", WIRES)
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def script(*steps: dict, **more: object) -> Script:
    return parse_script({"steps": list(steps), **more})


@EVERY_WIRE
@BOTH_WAYS
def test_a_cut_answer_ends_in_the_middle_and_the_next_is_whole(wire: str, stream: bool) -> None:
    played = script({"say": "a long text " * 20, "run": "ls", "cut": True}, {"say": "ok"})
    with scripted_endpoint(played) as endpoint:
        first, second = (post(endpoint.root, wire, request(wire, stream=stream)) for _ in "12")
        assert [served.status for served in endpoint.served] == [0, 200]
    assert not first.ended
    if stream:
        kinds = [name for name, _ in first.events]
        assert first.events, "the beginning was sent"
        assert first.events[-1][1] != "[DONE]"
        assert not {"response.completed", "message_stop"} & set(kinds)
    assert second.ended
    assert read_answer(wire, second)[0] == "ok"


@EVERY_WIRE
@BOTH_WAYS
def test_broken_arguments_are_no_json(wire: str, stream: bool) -> None:
    with scripted_endpoint(script({"run": "ls", "broken_arguments": True})) as endpoint:
        got = post(endpoint.root, wire, request(wire, stream=stream))
    assert got.ended
    ((_, arguments),) = read_answer(wire, got)[1]
    with pytest.raises(ValueError, match=r".+"):
        json.loads(arguments)


@EVERY_WIRE
@pytest.mark.parametrize("status", [400, 429, 500, 529])
def test_an_error_has_the_form_of_its_wire(wire: str, status: int) -> None:
    step = {"status": status, "headers": {"retry-after": "1"}, "times": 2}
    with scripted_endpoint(script(step, {"say": "ok"})) as endpoint:
        got = [post(endpoint.root, wire, request(wire, stream=True)) for _ in "123"]
    assert [answer.status for answer in got] == [status, status, 200]
    assert got[0].headers["retry-after"] == "1"
    assert got[0].body["error"]["message"] == f"scripted {status}"
    assert ("type" in got[0].body) == (wire == "anthropic-messages")


@EVERY_WIRE
def test_a_slow_answer_takes_its_time(wire: str) -> None:
    played = script({"say": "a b c", "wait": 0.3}, {"say": "a b c", "pace": 0.1})
    with scripted_endpoint(played) as endpoint:
        begun = time.monotonic()
        post(endpoint.root, wire, request(wire, stream=True))
        waited = time.monotonic() - begun
        got = post(endpoint.root, wire, request(wire, stream=True))
        paced = time.monotonic() - begun - waited
    assert waited >= 0.3
    assert paced >= 0.1 * (len(got.events) - 1)


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b"[" * 100000])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with scripted_endpoint(script({"say": "ok"})) as endpoint:
        assert post(endpoint.root, "openai-chat", body).status == 400
        assert endpoint.served == []
        assert post(endpoint.root, "openai-chat", request("openai-chat")).status == 200
