"""One boxed process from outside: its pipes, its clock, its end, and the end of its whole tree."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from frozenbench.canonical import Failed
from frozenbench.sandbox.box import TRUNCATED, Ended, Limits
from frozenbench.sandbox.users import User
from frozenbench.sandbox.watch import Watch

#: How long an ended tree may take to vanish, and its pipes to close, s.
GRACE_SECONDS = 5.0

_PIECE = 1 << 16
_PIPE_MOST = 1 << 20  # /proc/sys/fs/pipe-max-size as it comes


@dataclass(frozen=True)
class Launch:
    """How a child is started. The descriptors are ours: the child inherits them, we close them."""

    argv: list[str]
    inherited: tuple[int, ...]
    status: int  # read end: JSON lines of the box's own manager
    report: int | None  # read end: what the process reports
    user: User | None  # whom the manager becomes
    ending: signal.Signals  # what makes the manager end the whole tree
    executable: str | None = None  # where the first word of argv shall not tell its path
    prepare: Callable[[], None] | None = None  # last in the child, before exec: it becomes `user`
    go: int | None = None  # write end: the process waits until `let_go`
    watch: Watch | None = None  # looks at limits that no call of the process meets


class Kept:
    """Bytes up to a limit. What is beyond waits in its pipe, or is dropped and marks a cut."""

    def __init__(self, limit: int, *, waits: bool = False) -> None:
        self.data = bytearray()
        self.limit = limit
        self.waits = waits
        self.cut = False

    @property
    def room(self) -> int:
        """How many bytes can be kept."""
        return max(0, self.limit - len(self.data))

    def take(self, data: bytes) -> None:
        """Keep as much of `data` as there is room for."""
        self.cut = self.cut or len(data) > self.room
        self.data += data[: self.room]


class Child:
    """A started manager with the boxed process below it.

    Nothing runs in threads: pipes move only within `pump`. `kill` may be called from any thread.
    The kernel ends the tree when the thread that made this object ends.
    """

    def __init__(
        self, launch: Launch, limits: Limits, *, stdin: bytes | None, separate: bool
    ) -> None:
        """Start it, with `stdin` as its whole input, or (None) an input that stays open.

        With `separate`, standard output goes to `lines`, not to `output`.

        Raises:
            Failed: it cannot be started at all.
        """
        self.output = Kept(limits.output_bytes)
        self.lines = Kept(limits.output_bytes, waits=True)
        self.report = Kept(limits.output_bytes)
        self.timed_out = False
        self.resource_limit: str | None = None
        self.outgoing = memoryview(stdin or b"")
        self.feeds_on = stdin is None
        self.ended_at: float | None = None
        self._launch = launch
        self._watch = launch.watch
        self._go = launch.go
        self._words = Kept(_PIECE)
        self._tree: int | None = None
        self._first: int | None = None
        self._killed = False
        self._lock = threading.Lock()
        out = os.pipe()
        err = os.pipe() if separate else out
        feed = (os.open(os.devnull, os.O_RDONLY), None) if stdin == b"" else os.pipe()
        self.started = time.monotonic()
        try:
            self._process = _spawn(launch, feed[0], out[1], err[1])
        except (OSError, subprocess.SubprocessError) as error:
            _close({out[0], err[0], feed[1], launch.status, launch.report, launch.go})
            raise Failed(f"sandbox: {launch.argv[0]} cannot be started: {error}") from error
        finally:
            _close({feed[0], out[1], err[1], *launch.inherited})
        self._manager = _pidfd(self._process.pid)
        self._stdin = feed[1]
        self._readers = {err[0]: self.output, launch.status: self._words}
        if separate:
            self._readers[out[0]] = self.lines
        if launch.report is not None:
            self._readers[launch.report] = self.report
        for pipe in self._readers:
            os.set_blocking(pipe, False)
        if self._stdin is not None:
            os.set_blocking(self._stdin, False)

    @property
    def process(self) -> int:
        """The number of the manager's process."""
        return self._process.pid

    def let_go(self) -> None:
        """Let a process that waits for it start."""
        if self._go is not None:
            with suppress(BrokenPipeError):
                os.write(self._go, b"1")
            os.close(self._go)
            self._go = None

    def pump(self, until: Callable[[], bool], deadline: float | None) -> bool:
        """Move bytes until `until` holds (True), or the deadline, monotonic s, passes (False)."""
        while not until():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            if not self._move(left):
                return until()
        return True

    def _move(self, seconds: float | None) -> bool:
        """Wait for one round of events and handle it; False when nothing can happen any more."""
        poll = select.poll()
        for descriptor, kept in self._readers.items():
            if kept.room or not kept.waits:
                poll.register(descriptor, select.POLLIN)
        if self._stdin is not None and len(self.outgoing):
            poll.register(self._stdin, select.POLLOUT)
        if self.ended_at is None and self._manager is not None:
            poll.register(self._manager, select.POLLIN)
        elif self.ended_at is None:
            seconds = 0.01 if seconds is None else min(seconds, 0.01)
        elif not self._readers:
            return False
        most = 3600.0 if seconds is None else min(seconds, 3600.0)
        if self._watch is not None and self.ended_at is None:
            most = min(most, self._watch.due_in())
        events = poll.poll(math.ceil(most * 1000))
        for descriptor, _ in events:
            if descriptor == self._stdin:
                self._write()
            elif descriptor in self._readers:
                self._read(descriptor)
        if self.ended_at is None and self._has_ended(events):
            self.ended_at = time.monotonic()
        self._look()
        return True

    def _look(self) -> None:
        """End the process where a watched limit is passed."""
        if self._watch is None or self.ended_at is not None or self._watch.due_in() > 0:
            return
        limit = self._watch.passed(self._first)
        if limit is not None and self.resource_limit is None:
            self.resource_limit = limit
            self.kill()

    def _has_ended(self, events: list[tuple[int, int]]) -> bool:
        """Tell whether the manager has ended, from the events of one round."""
        if self._manager is not None:
            return any(descriptor == self._manager for descriptor, _ in events)
        return self._process.poll() is not None

    def _read(self, descriptor: int) -> None:
        kept = self._readers[descriptor]
        try:
            data = os.read(descriptor, min(_PIECE, kept.room) if kept.waits else _PIECE)
        except BlockingIOError:
            return
        if data:
            kept.take(data)
        else:
            del self._readers[descriptor]
            os.close(descriptor)
        if self._tree is None and self._words.data:
            self._find_tree()

    def _write(self) -> None:
        assert self._stdin is not None
        try:
            self.outgoing = self.outgoing[os.write(self._stdin, self.outgoing[:_PIECE]) :]
        except BlockingIOError:
            return
        except OSError:  # the process has closed its end: what is left is of no use
            self.close_stdin()
            return
        if not self.feeds_on and not len(self.outgoing):
            self.close_stdin()

    def close_stdin(self) -> None:
        """Let the process see the end of its input."""
        self.outgoing = memoryview(b"")
        if self._stdin is not None:
            os.close(self._stdin)
            self._stdin = None

    @property
    def accepts_input(self) -> bool:
        """Whether the process can still be written to."""
        return self._stdin is not None

    def _find_tree(self) -> None:
        """Take hold of the first process of the box's process namespace, where it has one."""
        for line in self._status_lines():
            if "child-pid" in line and _leads_a_namespace(line["child-pid"]):
                self._tree = _pidfd(line["child-pid"])
                self._first = line["child-pid"]
                if self._killed:
                    self.kill()

    def _status_lines(self) -> list[dict[str, Any]]:
        found = []
        for line in bytes(self._words.data).split(b"\n")[:-1]:
            with suppress(ValueError):
                found.append(json.loads(line))
        return [line for line in found if isinstance(line, dict)]

    def kill(self) -> None:
        """End the process and all that it has started; returns at once."""
        self._killed = True
        # Without the lock the descriptors might be closed, and be others, by now.
        with self._lock, suppress(ProcessLookupError):
            if self._manager is not None:
                signal.pidfd_send_signal(self._manager, self._launch.ending)
            else:
                self._process.send_signal(self._launch.ending)
            if self._tree is not None:
                signal.pidfd_send_signal(self._tree, signal.SIGKILL)

    def finish(self) -> Ended:
        """End what still runs, gather the rest of the output, and tell how it ended.

        Raises:
            Failed: the box could not be set up, so the process never started.
        """
        # Lines that the process wrote before its end are still to be read: a pipe may be full.
        self.lines.waits = False
        self.lines.limit += _PIPE_MOST
        if self.ended_at is None:
            self.kill()
            if not self.pump(lambda: self.ended_at is not None, time.monotonic() + GRACE_SECONDS):
                self._process.kill()  # a manager that does not end its tree
        code = self._process.wait()
        if self.ended_at is None:
            self.ended_at = time.monotonic()
        # The status line of a quick end may still be in its pipe.
        self.pump(lambda: self._launch.status not in self._readers, time.monotonic() + 0.2)
        if self._tree is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._tree, signal.SIGKILL)
            _wait_for(self._tree, GRACE_SECONDS)
        self.pump(lambda: not self._readers, time.monotonic() + 0.5)
        if self._watch is not None and self.resource_limit is None:
            self.resource_limit = self._watch.hit_at_end()
        self._close()
        return self._ended(code)

    def _close(self) -> None:
        with self._lock:
            _close({*self._readers, self._stdin, self._manager, self._tree, self._go})
            self._readers = {}
            self._stdin = self._manager = self._tree = self._go = None

    def _ended(self, code: int) -> Ended:
        told: dict[str, int | str | None] = {}
        for line in self._status_lines():
            told.update(line)
        limit = self.resource_limit or told.get("limit")
        status = told.get("exit-code")
        if not isinstance(status, int):
            if code >= 0 and not self._killed and limit is None:
                text = bytes(self.output.data).decode("utf-8", "replace").strip()
                raise Failed(f"sandbox: the box could not be set up: {text or f'status {code}'}")
            status = code if code < 0 else -int(signal.SIGKILL)
        number = -status if status < 0 else status - 128 if 128 < status <= 192 else None
        if number == signal.SIGXFSZ and limit is None:
            limit = "file_bytes"
        return Ended(
            exit_status=status if number is None else None,
            signal=number,
            timed_out=self.timed_out,
            resource_limit=None if limit is None else str(limit),
            output=bytes(self.output.data) + (TRUNCATED if self.output.cut else b""),
            report=bytes(self.report.data),
            seconds=(self.ended_at or self.started) - self.started,
            truncated=self.output.cut or self.report.cut,
        )


def _spawn(launch: Launch, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    user = launch.user if launch.prepare is None else None
    return subprocess.Popen(
        launch.argv,
        executable=launch.executable,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd="/",
        env={},
        pass_fds=launch.inherited,
        start_new_session=True,
        umask=0o022,
        user=None if user is None else user.uid,
        group=None if user is None else user.gid,
        extra_groups=None if user is None else [],
        # It runs with the locks of other threads as they are: it takes none (see stage.py).
        preexec_fn=launch.prepare,
    )


def _close(descriptors: Iterable[int | None]) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def _pidfd(process: int) -> int | None:
    """Return a descriptor of a process, or None where it is gone or the kernel has none."""
    try:
        return os.pidfd_open(process)
    except OSError:
        return None


def _leads_a_namespace(process: int) -> bool:
    """Tell whether a process is number 1 of a namespace, and not another that got its number."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as lines:  # noqa: PTH123
            return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)
    except OSError:
        return False


def _wait_for(process: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll(math.ceil(seconds * 1000))
