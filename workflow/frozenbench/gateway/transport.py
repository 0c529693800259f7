"""One HTTP exchange that ends at its deadline, whatever the other side does."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from frozenbench.canonical import BadInput

#: Largest body that is read, bytes.
MAX_BODY = 16 * 1024 * 1024
#: Longest wait for a connection, s; an answer may take as long as the clock allows.
CONNECT_SECONDS = 10.0


class Broken(Exception):
    """No whole answer came: refused, reset, cut, unreadable. Another try may help.

    `came` is what came of the body of one with status 200: it may have been billed.
    """

    def __init__(self, message: str, came: bytes = b"") -> None:
        super().__init__(message)
        self.came = came


class Untrusted(Exception):
    """The other side could not prove who it is. Another try would not help."""


class Late(Exception):
    """The deadline passed before the answer was there in full."""


class HungUp(Exception):
    """We ended the exchange ourselves; `sent`: its request was on its way."""

    def __init__(self, sent: bool) -> None:
        super().__init__("nobody waits for the answer any more")
        self.sent = sent


@dataclass(frozen=True)
class Reply:
    """A whole answer: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Line:
    """A connection that is kept for the next request to the same place, and what cuts it in time.

    For one user at a time. A thread of its own ends an exchange at its deadline: a timer for each
    would cost more than the exchange.
    """

    def __init__(self) -> None:
        self._place: tuple[str, str] | None = None
        self._connection: Any = None
        self._wake = threading.Condition()
        self._deadline: float | None = None
        self._socket: socket.socket | None = None
        self._watcher: threading.Thread | None = None
        self._over = False

    def post(self, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Reply:
        """Send one POST and read its answer, as the function `post` does.

        A kept connection that the other side has closed meanwhile is opened anew; nothing is ever
        sent twice, and nothing at all after `end`.
        """
        if self._over:
            raise HungUp(sent=False)
        deadline = time.monotonic() + seconds
        parts = urlsplit(url)
        place = (parts.scheme, parts.netloc)
        if self._place != place or not self._usable():
            self.close()
            self._connection, self._place = _connection(url, seconds), place
        try:
            return _exchange(self._connection, url, headers, body, deadline, self._cut_at)
        except Broken:
            self.close()
            if self._over:  # broken by us
                raise HungUp(sent=True) from None
            raise
        except BaseException:
            self.close()
            raise

    def _usable(self) -> bool:
        return self._connection is not None and bool(self._connection.is_connected)

    @contextlib.contextmanager
    def _cut_at(self, sock: socket.socket, deadline: float) -> Iterator[float | None]:
        left = max(0.0, deadline - time.monotonic())
        if left > threading.TIMEOUT_MAX:
            yield None
            return
        with self._wake:
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
            sooner = self._deadline is None or deadline < self._deadline
            self._deadline, self._socket = deadline, sock
            if sooner:
                self._wake.notify()
        try:
            yield left + 1.0
        finally:
            with self._wake:
                self._socket = None

    def _watch(self) -> None:
        """Cut what is still going on at its deadline."""
        with self._wake:
            while True:
                if self._deadline is None or self._socket is None:
                    self._deadline = None
                    self._wake.wait()
                    continue
                left = self._deadline - time.monotonic()
                if left > 0:
                    self._wake.wait(left)
                    continue
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
                self._socket = None

    def end(self) -> None:
        """Cut what is still going on, from any thread: nobody waits for its answer any more."""
        self._over = True
        with self._wake:
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


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
    deadline = time.monotonic() + seconds
    connection = _connection(url, seconds)
    try:
        return _exchange(connection, url, headers, body, deadline, _cut_at)
    finally:
        connection.close()


def _exchange(
    connection: Any,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    deadline: float,
    cut_at: Callable[[socket.socket, float], contextlib.AbstractContextManager[float | None]],
) -> Reply:
    """Send a request over a connection, opened if it is not, and read its answer."""
    import urllib3

    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    came, status = bytearray(), 0
    try:
        if connection.sock is None:
            connection.connect()
        with cut_at(connection.sock, deadline) as patient:
            connection.timeout = patient  # until here it was that of connecting
            connection.request(
                "POST", target, body=body, headers=dict(headers), preload_content=False
            )
            response = connection.getresponse()
            status = response.status
            _read(response, came)
        if time.monotonic() >= deadline:  # cut, where nothing tells a cut from an end
            raise Late
        names = {name.lower(): value for name, value in response.headers.items()}
        return Reply(status, names, bytes(came))
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        if _is_untrusted(error):
            raise Untrusted(str(error)) from None
        if time.monotonic() >= deadline:
            raise Late from None
        billed = bytes(came) if status == 200 else b""
        raise Broken(f"{type(error).__name__}: {error}", billed) from None


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


def _read(response: Any, body: bytearray) -> None:
    """Add the answer's bytes to `body`."""
    while chunk := response.read1(65536):
        body += chunk
        if len(body) > MAX_BODY:
            billed = bytes(body) if response.status == 200 else b""
            raise Broken(f"the answer is longer than {MAX_BODY} bytes", billed)


def _is_untrusted(error: BaseException) -> bool:
    """Tell whether a certificate was refused, as the library or as it wraps it."""
    import ssl

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
