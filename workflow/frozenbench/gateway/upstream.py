"""One request to a model endpoint: its key, its retries, its clock, and whether to believe it."""

from __future__ import annotations

import email.utils
import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from frozenbench.adapters.contract import AgentCrashed, ClockFell, EndpointDown, PinDrift
from frozenbench.canonical import BadInput, canonical_json
from frozenbench.gateway import transport
from frozenbench.gateway.wire import Wire, model_of
from frozenbench.gateway.wires.reading import load_finite

#: Statuses after which another try may help, with every 5xx.
TRY_AGAIN = (408, 429)


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


Told = TypeVar("Told")
#: Takes what came of an answer that broke off.
Lost = Callable[[bytes], None]


class Fault(Exception):
    """A try that failed.

    `wait` is what the endpoint asks to wait, s; `final`: no other helps; `came`: what came of an
    answer with status 200.
    """

    def __init__(
        self, message: str, wait: float = 0.0, final: bool = False, came: bytes = b""
    ) -> None:
        super().__init__(message)
        self.wait, self.final, self.came = wait, final, came


def ask_upstream(
    target: Target,
    request: Mapping[str, Any],
    remaining: float,
    log: Callable[[str], None],
    patience: Patience = Patience(),
    *,
    lost: Lost | None = None,
) -> Answer:
    """Ask the endpoint until it answers, the clock falls, or patience ends.

    Args:
        target: where to.
        request: the request's body.
        remaining: seconds on the agent's clock; a try may take as long, a failed try takes nothing.
        log: takes one line for each failed try; no key is ever in it.
        patience: bounds of the retries.
        lost: takes what came of an answer that broke off: it may have been billed.

    Raises:
        ClockFell: the answer was not there in time.
        EndpointDown: patience ended, or the endpoint refuses such requests.
        PinDrift: another model answered.
        AgentCrashed: the agent itself answered, whole, with something else than a JSON object.
        BadInput: the environment variable with the key is not set.
    """
    headers = {"Content-Type": "application/json"}
    if target.key_env is not None:
        headers |= target.wire.auth(secret_of(target.key_env))
    body = canonical_json(request)
    call = Call(target.wire.address, headers, body, target.key_env, target.reach, lost=lost)
    answer, seconds, failed = insist(
        call, lambda reply: _judge(target.wire, reply), remaining, log, patience
    )
    observed = model_of(answer)
    if observed is not None and observed != target.model:
        raise PinDrift(
            f"the endpoint answered as {observed!r}, pinned is {target.model!r}; cure: pin the "
            "model that it serves now, which makes a new experiment",
            observed,
            answer,
        )
    return Answer(answer, seconds, observed, failed)


@dataclass(frozen=True)
class Call:
    """One request, ready to be sent as often as it takes.

    Attributes:
        address: endpoint's root -> where the request goes.
        headers: all of them, the key among them.
        body: its bytes.
        key_env: name of the variable whose value must stand nowhere, or None.
        reach: opens the way for one try and gives the endpoint's root.
        post: sends it, as `transport.post` does.
        lost: takes what came of each answer that broke off, or None.
    """

    address: Callable[[str], str]
    headers: Mapping[str, str]
    body: bytes
    key_env: str | None
    reach: Callable[[], AbstractContextManager[str]]
    post: Callable[[str, Mapping[str, str], bytes, float], transport.Reply] = transport.post
    lost: Lost | None = None


def insist(
    call: Call,
    judge: Callable[[transport.Reply], Told],
    remaining: float,
    log: Callable[[str], None],
    patience: Patience = Patience(),
) -> tuple[Told, float, int]:
    """Send a request until `judge` takes a reply; return its word, the seconds, and failed tries.

    `judge` raises Fault for a reply that is no answer. Parameters and errors are those of
    `ask_upstream`.
    """
    secret = secret_of(call.key_env) if call.key_env is not None else None
    begun, failed = time.monotonic(), 0
    while True:
        try:
            reply, seconds = _try(call, secret, remaining)
            return _judged(judge, reply), seconds, failed
        except transport.Late:
            raise ClockFell from None
        except Fault as fault:
            message = _without(secret, str(fault))
            failed += 1
            if fault.came and call.lost is not None:
                call.lost(fault.came)
            left = begun + patience.seconds - time.monotonic()
            wait = min(left, max(fault.wait, patience.first_wait * 2 ** (failed - 1) * _jitter()))
            if fault.final or failed >= patience.tries or left <= 0:
                tries = f"{failed} {'try' if failed == 1 else 'tries'}"
                raise EndpointDown(
                    f"the endpoint gave no answer in {tries}: {message}", failed - 1
                ) from None
            log(f"endpoint: try {failed} failed: {message}; next in {wait:.1f} s")
        time.sleep(wait)


def _judged(judge: Callable[[transport.Reply], Told], reply: transport.Reply) -> Told:
    try:
        return judge(reply)
    except Fault as fault:
        if reply.status == 200:
            fault.came = reply.body
        raise


def _jitter() -> float:
    return 1.0 + 0.1 * random.random()


def secret_of(key_env: str) -> str:
    """Return the key in an environment variable.

    Raises:
        BadInput: the variable is not set, or holds no key.
    """
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


def _try(call: Call, secret: str | None, remaining: float) -> tuple[transport.Reply, float]:
    """Make one try; return the reply and the seconds from sending to the last byte."""
    with call.reach() as root:
        begun = time.monotonic()
        try:
            headers = {"User-Agent": "frozenbench", **call.headers}
            reply = call.post(call.address(root), headers, call.body, remaining)
        except transport.Broken as error:
            raise Fault(str(error), came=error.came) from None
        except transport.Untrusted as error:
            raise Fault(f"its certificate is not trusted: {error}", final=True) from None
        seconds = time.monotonic() - begun
    if secret is not None:
        # Some endpoints send the key back: it must reach no record, no agent and no message.
        reply = replace(reply, body=_spellings(secret).sub(b"[key]", reply.body))
    return reply, seconds


@lru_cache(maxsize=8)
def _spellings(secret: str) -> re.Pattern[bytes]:
    """Return what finds a key in a body: as it is, and as JSON may spell it, also JSON in JSON.

    Of `a/b+c` that is `a\\/b\\u002Bc` too, as some frameworks write it.
    """
    # No more than eight: of a long run of backslashes every one would be tried as a beginning.
    one = (rf"\\{{0,8}}(?:{re.escape(char)}|(?<=\\)u(?i:{ord(char):04x}))" for char in secret)
    return re.compile("".join(one).encode())


def _judge(wire: Wire, reply: transport.Reply) -> dict[str, Any]:
    """Return the body of a reply that is an answer; raise Fault for any other."""
    try:
        body = parse(reply.body)
    except ValueError as error:
        body, fault = {}, f"is not JSON ({error})"
    else:
        fault = wire.fault(body) or ""
    if reply.status >= 400:
        if reply.status < 500 and wire.refusal(body) is not None:
            return body
        again = reply.status >= 500 or reply.status in TRY_AGAIN
        message = f"status {reply.status}: {told(body, reply.body)}"
        raise Fault(message, retry_after(reply.headers), final=not again)
    if reply.status != 200:
        raise Fault(f"status {reply.status}, no answer; is base_url right?", final=True)
    if fault and wire.whole:
        raise AgentCrashed(f"the answer {fault}")
    if fault:
        raise Fault(f"the answer {fault}: {told(body, reply.body)}")
    return body


def told(body: Mapping[str, Any], raw: bytes) -> str:
    """Return what the body of an error says."""
    error = body.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return raw[:300].decode("utf-8", "replace")


def parse(raw: bytes) -> dict[str, Any]:
    """Return a body as JSON that can be stored: no NaN, no halves of characters.

    Raises:
        ValueError: it is no such JSON object.
    """
    try:
        body = load_finite(raw.decode("utf-8", "replace"))
        if not isinstance(body, dict):
            raise ValueError("no object")
        # "\ud800" is valid JSON and no text: replaced, or it could be neither keyed nor written.
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        clean: dict[str, Any] = json.loads(text.encode("utf-8", "replace"))
        return clean
    except RecursionError:
        raise ValueError("nested too deeply") from None


def retry_after(headers: Mapping[str, str]) -> float:
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
