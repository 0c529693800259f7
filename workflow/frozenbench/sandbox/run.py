"""Running something in a box: to its end, or as a partner in an exchange of lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from frozenbench.canonical import Failed
from frozenbench.sandbox.box import Box, Ended
from frozenbench.sandbox.child import Child
from frozenbench.sandbox.launch import Walls, launched
from frozenbench.sandbox.measure import require, walls_for


def run(box: Box, argv: Sequence[str], *, stdin: bytes = b"", report: bool = False) -> Ended:
    """Run `argv` in the box until it ends or the clock does; then nothing of it is left.

    The answer waits for the process itself, not for what it has started: that is ended with it.
    With `report` the process inherits a pipe whose descriptor FROZENBENCH_REPORT_FD names; what
    is written there comes back in `Ended.report`.

    Raises:
        Refused: this machine does not give the level of the box.
        BadInput: the box names something that is not there.
        Failed: the box could not be set up.
    """
    with launched(box, list(argv), walls=_walls(box), stdin=stdin, report=report) as child:
        deadline = None if box.limits.seconds is None else child.started + box.limits.seconds
        child.timed_out = not child.pump(lambda: child.ended_at is not None, deadline)
        return child.finish()


def start(box: Box, argv: Sequence[str]) -> Running:
    """Start `argv` in the box and return it, to be talked to in lines.

    Standard error is collected in `Ended.output`. Raises as `run` does.
    """
    return Running(box, list(argv), _walls(box))


def _walls(box: Box) -> Walls | None:
    if box.walled:
        return walls_for(box.level)
    require(box.level)
    return None


class Running:
    """A boxed process that lives until it ends, `close` or `kill` is called, or its clock ends.

    Its bytes move only inside these calls; a process that writes more than the pipes hold waits.
    """

    def __init__(self, box: Box, argv: list[str], walls: Walls | None) -> None:
        self._stack = ExitStack()
        context = launched(box, argv, walls=walls, stdin=None, separate=True)
        self._child: Child = self._stack.enter_context(context)
        self._ended: Ended | None = None
        self._clock: threading.Timer | None = None
        if box.limits.seconds is not None:
            self._clock = threading.Timer(box.limits.seconds, self._time_out)
            self._clock.daemon = True
            self._clock.start()

    def _time_out(self) -> None:
        self._child.timed_out = True
        self._child.kill()

    def write_line(self, line: bytes, deadline: float | None = None) -> bool:
        """Write `line` and a line end; False where the process cannot take it any more.

        `deadline` is monotonic, s; without one the clock of the box decides.
        """
        child = self._child
        if self._ended is not None or not child.accepts_input:
            return False
        child.outgoing = memoryview(bytes(child.outgoing) + line.removesuffix(b"\n") + b"\n")
        return child.pump(self._written_or_over, deadline) and child.accepts_input

    def _written_or_over(self) -> bool:
        return not len(self._child.outgoing) or self._child.ended_at is not None

    def read_line(self, deadline: float) -> bytes | None:
        """Return the next line without its end, or None: none came until `deadline`, or ever will.

        `ended` tells which. A line longer than Limits.output_bytes ends the process.
        """
        lines = self._child.lines
        if self._ended is None:
            self._child.pump(self._line_or_over, deadline)
            if not lines.room and b"\n" not in lines.data:
                self._child.resource_limit = "output_bytes"
                self.kill()
            elif self._child.ended_at is not None:
                self._finish()
        end = lines.data.find(b"\n")
        if end < 0:
            return None
        line = bytes(lines.data[:end])
        del lines.data[: end + 1]
        return line

    def _line_or_over(self) -> bool:
        lines = self._child.lines
        return b"\n" in lines.data or not lines.room or self._child.ended_at is not None

    def wait(self, deadline: float) -> Ended | None:
        """Wait until the process ends; None where it has not by `deadline`, monotonic s.

        Lines beyond Limits.output_bytes that nobody has read are dropped meanwhile.
        """
        if self._ended is None:
            self._child.lines.waits = False
            over = self._child.pump(self._over, deadline)
            self._child.lines.waits = True
            if over:
                self._finish()
        return self._ended

    def _over(self) -> bool:
        return self._child.ended_at is not None

    @property
    def ended(self) -> Ended | None:
        """How the process ended, or None while it runs."""
        if self._ended is None and self._child.pump(self._over, time.monotonic() + 0.001):
            self._finish()
        return self._ended

    def kill(self) -> None:
        """End the process and all that it has started; return when nothing is left."""
        if self._ended is None:
            self._child.kill()
            self._finish()

    def close(self, seconds: float = 0.0) -> Ended:
        """Close its input, give it `seconds` to end by itself, end it, and return how it ended."""
        if self._ended is None:
            self._child.close_stdin()
            self.wait(time.monotonic() + seconds)
        self.kill()
        assert self._ended is not None
        return self._ended

    def _finish(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        try:
            self._ended = self._child.finish()
        finally:
            self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except Failed:
            if error is None:
                raise
