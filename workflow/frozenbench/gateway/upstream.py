"""One request to a model endpoint: its key, its retries, its clock, and whether to believe it."""

from __future__ import annotations

import email.utils
import json
import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from frozenbench.adapters.contract import AgentCrashed, ClockFell, EndpointDown, PinDrift
from frozenbench.canonical import BadInput, canonical_json
from frozenbench.gateway import transport
from frozenbench.gateway.wire import Wire, model_of

#: Statuses after which another try may help, with every 5xx.
_TRY_AGAIN = (408, 429)


@dataclass(frozen=True)
class Patience:
    """How long infrastructure faults are put up with: tries, and seconds of failed tries and waits.

    The wait after failed try n (from 0) is `first_wait` * 2**n s, or what the endpoint asks for if
    that is more, with up to a tenth of chance on top, so that cells do not all come back at once;
    it never goes beyond `seconds`, when one last try is made.
    """

    tries: int = 5
    seconds: float = 60.0
    first_wait: float = 0.5


@dataclass(frozen=True)
class Target:
    """Where a request goes.

    Attributes:
        wire: the wire format.
        model: the pinned model name.
        key_env: name of the environment variable with the key, or None.
        reach: opens the way for one try and gives the endpoint's root; waiting in it is off the
            agent's clock.
    """

    wire: Wire
    model: str
    key_env: str | None
    reach: Callable[[], AbstractContextManager[str]]


@dataclass(frozen=True)
class Answer:
    """A response that was read in full.

    Attributes:
        body: the whole body.
        seconds: time that the endpoint took for it, failed tries and waits left out.
        model: the model name that it states, or None.
        infra_retries: tries that failed before.
    """

    body: Mapping[str, Any]
    seconds: float
    model: str | None
    infra_retries: int


class _Fault(Exception):
    """A try that failed; `wait` is what the endpoint asks to wait, s."""

    def __init__(self, message: str, wait: float = 0.0, final: bool = False) -> None:
        super().__init__(message)
        self.wait, self.final = wait, final


def ask_upstream(
    target: Target,
    request: Mapping[str, Any],
    remaining: float,
    log: Callable[[str], None],
    patience: Patience = Patience(),
) -> Answer:
    """Ask the endpoint until it answers, the clock falls, or patience ends.

    Args:
        target: where to.
        request: the request's body.
        remaining: seconds on the agent's clock; a try may take as long, a failed try takes nothing.
        log: takes one line for each failed try; no key is ever in it.
        patience: bounds of the retries.

    Raises:
        ClockFell: the answer was not there in time.
        EndpointDown: patience ended, or the endpoint refuses such requests.
        PinDrift: another model answered.
        AgentCrashed: the agent itself answered, whole, with something else than a JSON object.
        BadInput: the environment variable with the key is not set.
    """
    secret = _secret(target.key_env)
    body = canonical_json(request)
    begun, failed = time.monotonic(), 0
    while True:
        try:
            answer, seconds = _try(target, secret, body, remaining)
            break
        except transport.Late:
            raise ClockFell from None
        except _Fault as fault:
            message = _without(secret, str(fault))
            failed += 1
            left = begun + patience.seconds - time.monotonic()
            wait = min(left, max(fault.wait, patience.first_wait * 2 ** (failed - 1) * _jitter()))
            if fault.final or failed >= patience.tries or left <= 0:
                raise EndpointDown(
                    f"the endpoint gave no answer in {failed} {'try' if failed == 1 else 'tries'}: {message}",
                    failed - 1,
                ) from None
            log(f"endpoint: try {failed} failed: {message}; next in {wait:.1f} s")
        time.sleep(wait)
    observed = model_of(answer)
    if observed is not None and observed != target.model:
        raise PinDrift(
            f"the endpoint answered as {observed!r}, pinned is {target.model!r}; cure: pin the "
            "model that it serves now, which makes a new experiment",
            observed,
        )
    return Answer(answer, seconds, observed, failed)


def _jitter() -> float:
    return 1.0 + 0.1 * random.random()


def _secret(key_env: str | None) -> str | None:
    if key_env is None:
        return None
    secret = os.environ.get(key_env, "").strip()
    if not secret:
        raise BadInput(
            f"endpoint: key_env: the environment variable {key_env} is not set, and a request is "
            f"not in the record; cure: export {key_env}=…"
        )
    if not secret.isascii() or not secret.isprintable():
        raise BadInput(
            f"endpoint: key_env: {key_env} holds characters that no key has; cure: set it again"
        )
    return secret


def _without(secret: str | None, text: str) -> str:
    """Return a message on one line, cut, without the key: endpoints may send it back."""
    clean = text if secret is None else text.replace(secret, "[key]")
    return " ".join(clean.split())[:500]


def _try(
    target: Target, secret: str | None, body: bytes, remaining: float
) -> tuple[dict[str, Any], float]:
    """Make one try; return the body and the seconds from sending to the last byte."""
    headers = {"Content-Type": "application/json", "User-Agent": "frozenbench"}
    if secret is not None:
        headers |= target.wire.auth(secret)
    with target.reach() as root:
        begun = time.monotonic()
        try:
            reply = transport.post(target.wire.address(root), headers, body, remaining)
        except transport.Broken as error:
            raise _Fault(str(error)) from None
        except transport.Untrusted as error:
            raise _Fault(f"its certificate is not trusted: {error}", final=True) from None
        seconds = time.monotonic() - begun
    return _judge(target.wire, reply), seconds


def _judge(wire: Wire, reply: transport.Reply) -> dict[str, Any]:
    """Return the body of a reply that is an answer; raise _Fault for any other."""
    try:
        body = _parse(reply.body)
    except ValueError as error:
        body, fault = {}, f"is not JSON ({error})"
    else:
        fault = wire.fault(body) or ""
    if reply.status >= 400:
        if reply.status < 500 and wire.refusal(body) is not None:
            return body
        again = reply.status >= 500 or reply.status in _TRY_AGAIN
        message = f"status {reply.status}: {_told(body, reply.body)}"
        raise _Fault(message, _retry_after(reply.headers), final=not again)
    if reply.status != 200:
        raise _Fault(f"status {reply.status}, no answer; is base_url right?", final=True)
    if fault and wire.whole:
        raise AgentCrashed(f"the answer {fault}")
    if fault:
        raise _Fault(f"the answer {fault}: {_told(body, reply.body)}")
    return body


def _told(body: Mapping[str, Any], raw: bytes) -> str:
    error = body.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return raw[:300].decode("utf-8", "replace")


def _parse(raw: bytes) -> dict[str, Any]:
    """Return a body as JSON that can be stored: no NaN, no halves of characters."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    body = json.loads(raw.decode("utf-8", "replace"), parse_constant=refuse)
    if not isinstance(body, dict):
        raise ValueError("no object")
    # "\ud800" is valid JSON and no text: replaced, or it could be neither keyed nor written.
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    clean: dict[str, Any] = json.loads(text.encode("utf-8", "replace"))
    return clean


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
