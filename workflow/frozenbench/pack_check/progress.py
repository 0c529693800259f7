"""Where a long check stands: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

EVERY = 10


@dataclass(frozen=True)
class Progress:
    """Tells on `stream` how many of `total` tasks are done."""

    stream: TextIO
    total: int

    def say(self, done: int, doing: str) -> None:
        """Say that `done` tasks are through and what comes now; elsewhere every tenth time."""
        line = f"pack check: {done} of {self.total} tasks; {doing}"
        if self.stream.isatty():
            self._write(f"\r\x1b[2K{line[:100]}")
        elif done and done % EVERY == 0:
            self._write(f"{line}\n")

    def note(self, line: str) -> None:
        """Say something that takes long, whatever the stream is."""
        self.clear()
        self._write(f"{line}\n")

    def clear(self) -> None:
        """Take the live line away."""
        if self.stream.isatty():
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
