"""A kept connection: used again, opened anew where it was closed, cut at each deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from frozenbench.gateway.transport import Broken, HungUp, Late, Line
from scripted_endpoint import Act, Endpoint, Handler, cut_short, scripted, slow, trickle

ASKED: list[int] = []


def here(handler: Handler, body: object) -> None:
    """Answer, and note by which connection it was asked."""
    ASKED.append(handler.client_address[1])
    handler.reply(200, b"here")


def then_closed(handler: Handler, body: object) -> None:
    here(handler, body)
    handler.close_connection = True


@pytest.fixture
def line() -> Iterator[Line]:
    ASKED.clear()
    found = Line()
    yield found
    found.close()


def post(line: Line, endpoint: Endpoint, seconds: float = 10) -> bytes:
    return line.post(f"{endpoint.root}/v1/x", {"Content-Type": "x"}, b"{}", seconds).body


def test_one_connection_serves_many(line: Line) -> None:
    with scripted(always=here) as endpoint:
        assert [post(line, endpoint) for _ in range(5)] == [b"here"] * 5
    assert len(set(ASKED)) == 1


def test_a_closed_connection_is_opened_anew_before_anything_is_sent(line: Line) -> None:
    with scripted(always=then_closed) as endpoint:
        for _ in range(3):
            post(line, endpoint)
            time.sleep(0.05)
    assert len(set(ASKED)) == len(ASKED) == 3


@pytest.mark.parametrize("act", [cut_short])
def test_what_broke_is_not_sent_again(line: Line, act: Act) -> None:
    with scripted(here, act, always=here) as endpoint:
        post(line, endpoint)
        with pytest.raises(Broken):
            post(line, endpoint)
        assert len(endpoint.requests) == 2
        assert post(line, endpoint) == b"here"


@pytest.mark.parametrize("act", [slow(3, here), trickle])
def test_each_exchange_has_its_own_deadline(line: Line, act: Act) -> None:
    with scripted(here, act, here, act, always=here) as endpoint:
        post(line, endpoint, 60)  # a later deadline before sooner ones
        for _ in range(2):
            begun = time.monotonic()
            with pytest.raises(Late):
                post(line, endpoint, 0.3)
            assert 0.25 < time.monotonic() - begun < 1.5
            assert post(line, endpoint, 60) == b"here"


def test_no_deadline_is_none(line: Line) -> None:
    with scripted(always=here) as endpoint:
        assert post(line, endpoint, float("inf")) == b"here"


def test_nothing_is_sent_after_its_end(line: Line) -> None:
    with scripted(slow(5, here), always=here) as endpoint:
        timer = threading.Timer(0.3, line.end)
        timer.start()
        begun = time.monotonic()
        with pytest.raises(HungUp) as first:
            post(line, endpoint)
        assert time.monotonic() - begun < 2
        with pytest.raises(HungUp) as second:
            post(line, endpoint)
        assert (first.value.sent, second.value.sent) == (True, False)
        assert len(endpoint.requests) == 1
