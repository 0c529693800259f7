"""The agent's clock: monotonic, paused for what is not the agent's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class AgentClock:
    """Seconds since the first call of `propose`, less pauses, plus credited recorded time."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, virtual: bool = False) -> None:
        self._now, self._virtual = now, virtual
        self._started: float | None = None
        self._off = 0.0
        self._credit = 0.0
        self._paused_at: float | None = None

    def start(self) -> None:
        """Start at the first call; later calls change nothing."""
        if self._started is None:
            self._started = self._now()

    def elapsed(self) -> float:
        """Seconds on the clock; a virtual clock never ticks, and a paused one stands."""
        if self._virtual or self._started is None:
            return 0.0
        paused_at = self._paused_at  # another thread may look while one is pausing
        now = self._now() if paused_at is None else paused_at
        return max(0.0, now - self._started - self._off + self._credit)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the time inside the block off the clock."""
        if self._paused_at is not None:  # inside a pause
            yield
            return
        begin = self._paused_at = self._now()
        try:
            yield
        finally:
            self._off += self._now() - begin
            self._paused_at = None

    def credit(self, seconds: float) -> None:
        """Add the time that a served response took when it was recorded."""
        self._credit += seconds
