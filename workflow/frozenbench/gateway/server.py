"""The gateway's HTTP server: one Unix socket a cell, requests answered one after the other.

The standard library's server, imported with this module and so by gateway cells alone: a parser
that is known to be right, one thread a connection, and no further dependency. What answers runs in
one thread of its own, so parallel requests of an agent are served in their order of arrival.
"""

from __future__ import annotations

import hashlib
import os
import queue
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

#: A stream that is waited for gets a comment this often, s: agents hang up on silence.
PING_SECONDS = 10.0
PING = b": keep-alive\n\n"
MAX_BODY = 64 * 1024 * 1024

_STREAMED = re.compile(rb'"stream"\s*:\s*true')


@dataclass(frozen=True)
class Request:
    """One HTTP request: method, path with its query, headers by lower-case name, body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def identity(self) -> str:
        """What is equal for a body that is sent again."""
        return hashlib.sha256(self.path.encode() + b"\0" + self.body).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What the agent gets: `streamed` marks a body of server-sent events."""

    status: int
    body: bytes
    streamed: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Job:
    """A model request that waits for its answer; several connections may wait for one."""

    request: Request
    arrived: float
    done: threading.Event = field(default_factory=threading.Event)
    reply: Reply | None = None
    waiting: list[socket.socket] = field(default_factory=list)

    def abandoned(self) -> bool:
        """Tell whether everybody who waited has hung up."""
        return all(_hung_up(connection) for connection in list(self.waiting))


def _hung_up(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except (OSError, ValueError):
        return True


class Server:
    """Serves one cell.

    Args:
        path: where the socket is made.
        is_queued: tells the requests that are answered in order from those answered at once.
        answer: answers a queued one, in one thread; None leaves it without an answer.
        aside: answers any other, in the connection's thread.
        again: is told of a body that was sent again before its response was delivered in full.
    """

    def __init__(
        self,
        path: Path,
        is_queued: Callable[[Request], bool],
        answer: Callable[[Job], Reply | None],
        aside: Callable[[Request], Reply],
        again: Callable[[], None] = lambda: None,
    ) -> None:
        self.path = path
        self.is_queued, self.answer, self.aside, self.again = is_queued, answer, aside, again
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._open: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._server = _Listener(path, self)
        self._worker = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Server:
        listen = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        listen.start()
        self._worker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._jobs.put(None)
        self._server.shutdown()
        self._server.server_close()

    def join(self, seconds: float) -> None:
        """Wait, no longer than that, for the end of an answer that is being made."""
        self._worker.join(seconds)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if job.abandoned():
                self.forget(job)
            else:
                job.reply = self.answer(job)
                if job.reply is None:
                    self.forget(job)
            job.done.set()

    def submit(self, request: Request, connection: socket.socket) -> Job:
        """Return the job of a request: a new one, or that of the same body still undelivered."""
        with self._lock:
            job = self._open.get(request.identity)
            if job is not None:
                job.waiting.append(connection)
            else:
                job = Job(request, time.monotonic(), waiting=[connection])
                self._open[request.identity] = job
                self._jobs.put(job)
                return job
        self.again()
        return job

    def forget(self, job: Job) -> None:
        """The job's response was delivered in full, or there will be none."""
        with self._lock:
            if self._open.get(job.request.identity) is job:
                del self._open[job.request.identity]


class _Listener(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, path: Path, gateway: Server) -> None:
        self.gateway = gateway
        # The name of a socket is short; the way to its folder may be long.
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            super().__init__(f"/proc/self/fd/{folder}/{path.name}", _Handler)
        finally:
            os.close(folder)
        path.chmod(0o777)  # the boxed user is another one

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together
    server: _Listener

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what happened stands in the trace."""

    def do_GET(self) -> None:
        """Answer any request."""
        try:
            body = self._body()
        except ValueError:
            self._send(Reply(400, b'{"error": {"message": "the body cannot be read"}}'), close=True)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        gateway = self.server.gateway
        if not gateway.is_queued(request):
            self._send(gateway.aside(request))
            return
        self._deliver(gateway, gateway.submit(request, self.connection))

    do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_GET

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY:
            raise ValueError("too long")
        body = self.rfile.read(length)
        if len(body) < length:
            raise ValueError("cut off")
        return body

    def _chunks(self) -> bytes:
        body = bytearray()
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            if size < 0 or len(body) + size > MAX_BODY:
                raise ValueError("too long")
            body += self.rfile.read(size)
            self.rfile.readline(100)
        while self.rfile.readline(65536).strip():
            pass  # trailers
        return bytes(body)

    def _deliver(self, gateway: Server, job: Job) -> None:
        """Wait for the answer, and send it; it is forgotten only when all of it has been taken."""
        begun = False
        while not job.done.wait(PING_SECONDS):
            if _STREAMED.search(job.request.body):
                if not begun:
                    self._head(Reply(200, b"", streamed=True))
                    begun = True
                self._chunk(PING)
                self.wfile.flush()
        reply = job.reply
        if reply is None or (begun and not reply.streamed) or _hung_up(self.connection):
            self.close_connection = True
            return
        if begun:
            self._chunk(reply.body)
            self._last_chunk()
        else:
            self._send(reply)
        self.wfile.flush()
        gateway.forget(job)

    def _send(self, reply: Reply, close: bool = False) -> None:
        self._head(reply, close)
        if self.command == "HEAD":
            return
        if reply.streamed:
            self._chunk(reply.body)
            self._last_chunk()
        else:
            self.wfile.write(reply.body)

    def _head(self, reply: Reply, close: bool = False) -> None:
        kind = "text/event-stream; charset=utf-8" if reply.streamed else "application/json"
        lines = [("Content-Type", kind), *reply.headers]
        if not reply.streamed:
            lines.append(("Content-Length", str(len(reply.body))))
        elif self.request_version == "HTTP/1.0":
            close = True
        else:
            lines += [("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked")]
        if close:
            lines.append(("Connection", "close"))
        self.send_response_only(reply.status)
        for name, value in lines:
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = self.close_connection or close

    def _chunk(self, data: bytes) -> None:
        """Write a piece of a stream; before HTTP/1.1 there are no chunks, and its end is the end."""
        if self.request_version == "HTTP/1.0":
            self.wfile.write(data)
        elif data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _last_chunk(self) -> None:
        if self.request_version != "HTTP/1.0":
            self.wfile.write(b"0\r\n\r\n")

    def handle(self) -> None:
        """Serve a connection until its other side hangs up."""
        with suppress(OSError):
            super().handle()
