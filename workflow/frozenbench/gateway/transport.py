"""One HTTP exchange that ends at its deadline, whatever the other side does."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from frozenbench.canonical import BadInput

#: Largest body that is read, bytes.
MAX_BODY = 16 * 1024 * 1024
#: Longest wait for a connection, s; an answer may take as long as the clock allows.
CONNECT_SECONDS = 10.0


class Broken(Exception):
    """No whole answer came: refused, reset, cut, unreadable. Another try may help."""


class Untrusted(Exception):
    """The other side could not prove who it is. Another try would not help."""


class Late(Exception):
    """The deadline passed before the answer was there in full."""


@dataclass(frozen=True)
class Reply:
    """A whole answer: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Reply:
    """Send one POST and read its answer. TLS is verified; no redirect is followed.

    Args:
        url: http or https.
        headers: sent as they are.
        body: the request's bytes.
        seconds: time until the whole answer must be there.

    Raises:
        Broken, Untrusted, Late: see there.
        BadInput: `url` is no http or https address.
    """
    import urllib3

    deadline = time.monotonic() + seconds
    connection = _connection(url, seconds)
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.connect()
        with _cut_at(connection.sock, deadline) as patient:
            connection.timeout = patient  # until here it was that of connecting
            connection.request(
                "POST", target, body=body, headers=dict(headers), preload_content=False
            )
            response = connection.getresponse()
            answer = _read(response)
        if time.monotonic() >= deadline:  # cut, where nothing tells a cut from an end
            raise Late
        names = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status, names, answer)
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        if _is_untrusted(error):
            raise Untrusted(str(error)) from None
        if time.monotonic() >= deadline:
            raise Late from None
        raise Broken(f"{type(error).__name__}: {error}") from None
    finally:
        connection.close()


def _connection(url: str, seconds: float) -> Any:
    """Return an unconnected connection to the host of `url`."""
    import ssl

    from urllib3.connection import HTTPConnection, HTTPSConnection

    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme not in ("http", "https") or not host:
        raise BadInput(f"endpoint: base_url: is {url!r}; cure: an http:// or https:// address")
    timeout = min(seconds, CONNECT_SECONDS)
    if parts.scheme == "http":
        return HTTPConnection(host, port or 80, timeout=timeout)
    context = ssl.create_default_context()
    return HTTPSConnection(host, port or 443, timeout=timeout, ssl_context=context)


@contextlib.contextmanager
def _cut_at(sock: socket.socket, deadline: float) -> Iterator[float | None]:
    """End the connection at the deadline, also while a read waits or bytes trickle in.

    Gives the seconds that are left, None where there is no deadline: a time-out of the socket
    alone would begin anew with each byte.
    """
    left = max(0.0, deadline - time.monotonic())
    if left > threading.TIMEOUT_MAX:
        yield None
        return

    def cut() -> None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(left, cut)
    timer.daemon = True
    timer.start()
    try:
        yield left + 1.0
    finally:
        timer.cancel()


def _read(response: Any) -> bytes:
    body = bytearray()
    while chunk := response.read1(65536):
        body += chunk
        if len(body) > MAX_BODY:
            raise Broken(f"the answer is longer than {MAX_BODY} bytes")
    return bytes(body)


def _is_untrusted(error: BaseException) -> bool:
    """Tell whether a certificate was refused, as the library or as it wraps it."""
    import ssl

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
