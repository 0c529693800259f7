from __future__ import annotations

import contextlib
import json
import socket
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters.contract import ClockFell, EndpointDown, PinDrift
from frozenbench.canonical import BadInput
from frozenbench.gateway import transport
from frozenbench.gateway.upstream import Answer, Patience, Target, ask_upstream
from frozenbench.gateway.wire import wire_of
from scripted_endpoint import (
    MODEL,
    chat_body,
    cut_short,
    raw,
    says,
    scripted,
    slow,
    status,
    trickle,
)

QUICK = Patience(tries=5, seconds=20, first_wait=0.01)
REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "é"}]}
WIRE = wire_of("openai-chat")


def ask(root: str, key_env: str | None = None, seconds: float = 30, **how: Any) -> Answer:
    target = Target(WIRE, MODEL, key_env, lambda: contextlib.nullcontext(root))
    log = how.pop("log", lambda line: None)
    return ask_upstream(
        target, how.pop("request", REQUEST), seconds, log, how.get("patience", QUICK)
    )


def test_an_answer() -> None:
    with scripted(says("hello")) as endpoint:
        answer = ask(endpoint.root)
    assert (answer.body, answer.model, answer.infra_retries) == (chat_body("hello"), MODEL, 0)
    (asked,) = endpoint.requests
    assert (asked.path, asked.body) == ("/v1/chat/completions", REQUEST)
    assert "Authorization" not in asked.headers


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/openai/x?api-version=2", "/openai/x/chat/completions?api-version=2"),
    ],
)
def test_the_root_of_an_endpoint(path: str, asked: str) -> None:
    with scripted() as endpoint:
        ask(endpoint.root + path)
    assert endpoint.requests[0].path == asked


FAULTS = {
    "429": status(429, retry_after="0"),
    "500": status(500),
    "502 that is no JSON": lambda handler, body: handler.reply(502, b"<html>bad gateway"),
    "cut stream": cut_short,
    "no JSON": raw(b"hello"),
    "no object": raw(b"[1]"),
    "no choices": raw(b'{"choices": []}'),
    "an error with status 200": raw(b'{"error": {"message": "overloaded"}}'),
    "NaN": raw(b'{"choices": [{"message": {"content": "x"}}], "score": NaN}'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_then_an_answer(fault: str) -> None:
    lines: list[str] = []
    with scripted(FAULTS[fault], FAULTS[fault], says("hello")) as endpoint:
        answer = ask(endpoint.root, log=lines.append)
    assert (answer.body, answer.infra_retries) == (chat_body("hello"), 2)
    assert len(lines) == 2
    assert [request.body for request in endpoint.requests] == [REQUEST] * 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays(fault: str) -> None:
    with scripted(always=FAULTS[fault]) as endpoint, pytest.raises(EndpointDown) as caught:
        ask(endpoint.root)
    assert caught.value.infra_retries == 4
    assert len(endpoint.requests) == 5
    assert "5 tries" in str(caught.value)


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        with pytest.raises(EndpointDown, match="refused"):
            ask(f"http://127.0.0.1:{taken.getsockname()[1]}")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 302])
def test_what_another_try_cannot_mend_is_not_tried_again(code: int) -> None:
    elsewhere = status(code, location="http://127.0.0.1:1/")
    with (
        scripted(always=elsewhere) as endpoint,
        pytest.raises(EndpointDown, match=f"status {code}"),
    ):
        ask(endpoint.root)
    assert len(endpoint.requests) == 1


def test_retry_after_is_waited_for() -> None:
    with scripted(status(429, retry_after="1"), says("hello")) as endpoint:
        begun = time.monotonic()
        answer = ask(endpoint.root)
        waited = time.monotonic() - begun
    assert answer.infra_retries == 1
    assert 1.0 <= waited < 5
    assert answer.seconds < 0.9


def test_retry_after_as_a_date() -> None:
    with scripted(
        status(503, retry_after="Fri, 31 Dec 1999 23:59:59 GMT"),
        status(503, retry_after="nonsense"),
        says("hello"),
    ) as endpoint:
        assert ask(endpoint.root).infra_retries == 2


def test_patience_is_bounded_in_time_whatever_the_endpoint_asks_for() -> None:
    with scripted(always=status(429, retry_after="3600")) as endpoint:
        begun = time.monotonic()
        with pytest.raises(EndpointDown):
            ask(endpoint.root, patience=Patience(tries=50, seconds=0.3, first_wait=0.01))
        assert time.monotonic() - begun < 5
    assert len(endpoint.requests) == 2


def test_the_clock_falls_while_waiting_for_an_answer() -> None:
    with scripted(slow(3, says("late"))) as endpoint:
        begun = time.monotonic()
        with pytest.raises(ClockFell):
            ask(endpoint.root, seconds=0.3)
        assert 0.25 < time.monotonic() - begun < 2


def test_the_clock_falls_while_bytes_trickle_in() -> None:
    with scripted(trickle) as endpoint:
        begun = time.monotonic()
        with pytest.raises(ClockFell):
            ask(endpoint.root, seconds=0.4)
        assert 0.35 < time.monotonic() - begun < 2


def test_failed_tries_take_nothing_from_the_clock() -> None:
    late = slow(0.4, status(500))
    with scripted(late, late, slow(0.4, says("hello"))) as endpoint:
        answer = ask(endpoint.root, seconds=1.0)
    assert answer.infra_retries == 2
    assert 0.4 <= answer.seconds < 1.0


@pytest.mark.slow
def test_an_answer_may_take_longer_than_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECT_SECONDS", 0.5)
    with scripted(slow(1.5, says("hello"))) as endpoint:
        assert ask(endpoint.root).infra_retries == 0


def test_another_model_answers() -> None:
    other = says("hello", model="scripted-2")
    with scripted(other) as endpoint, pytest.raises(PinDrift, match="scripted-2") as caught:
        ask(endpoint.root)
    assert caught.value.observed == "scripted-2"


def test_a_model_that_is_not_told() -> None:
    with scripted(says("hello", model=None)) as endpoint:
        assert ask(endpoint.root).model is None


def test_an_endless_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY", 1000)
    with (
        scripted(always=says("x" * 5000)) as endpoint,
        pytest.raises(EndpointDown, match="longer than 1000 bytes"),
    ):
        ask(endpoint.root)


def test_half_a_character_can_be_stored() -> None:
    with scripted(raw(rb'{"choices": [{"message": {"content": "a\ud800b"}}]}')) as endpoint:
        answer = ask(endpoint.root)
    assert json.dumps(answer.body, ensure_ascii=False).encode("utf-8")
    assert WIRE.text(answer.body) == "a?b"


KEY = "sk-test-0123456789"


def test_the_key_goes_to_the_endpoint_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    lines: list[str] = []
    told = status(500, {"error": {"message": f"bad key {KEY}"}})
    with scripted(always=told) as endpoint, pytest.raises(EndpointDown) as caught:
        ask(endpoint.root, "TEST_KEY", log=lines.append)
    assert endpoint.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "bad key [key]" in str(caught.value)
    assert KEY not in " ".join([*lines, str(caught.value), repr(caught.value)])


@pytest.mark.parametrize("value", [None, "", "  ", "two\nlines", "naïve"])
def test_a_key_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with scripted() as endpoint, pytest.raises(BadInput, match=r"key_env: .*TEST_KEY.*cure: "):
        ask(endpoint.root, "TEST_KEY")
    assert endpoint.requests == []


@pytest.mark.parametrize("root", ["ftp://127.0.0.1", "127.0.0.1:80", "http://", "http://a:b/"])
def test_an_address_that_is_none(root: str) -> None:
    with pytest.raises(BadInput, match=r"base_url: is .*; cure: "):
        ask(root)


def made_certificate(folder: Path) -> tuple[Path, Path]:
    """Return a certificate that nobody has signed, and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run(
            [*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the openssl program to make a certificate")
    return certificate, key


def test_a_certificate_that_nobody_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = made_certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with scripted(tls=tls) as endpoint:
        with pytest.raises(EndpointDown, match="1 try: its certificate is not trusted"):
            ask(endpoint.root)
        assert endpoint.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(endpoint.root).body == chat_body("ok")
