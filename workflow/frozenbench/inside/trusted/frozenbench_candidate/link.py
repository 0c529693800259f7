"""The connection to one candidate: a line out, a line back, through the broker outside the box."""

from __future__ import annotations

import json
import os
from _thread import allocate_lock
from contextlib import suppress

from .errors import CandidateDied

TYPE_CHECKING = False  # typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

#: Where the broker listens.
SOCKET_VARIABLE = "FROZENBENCH_CANDIDATE"
#: Bytes of a line that is read; the broker ends a candidate whose answers are longer.
MAX_LINE = 16 << 20
_MAX_DIGITS = 20


class Link:
    """One connection, which stands for one child. Once it is broken it stays so."""

    def __init__(self, head: dict[str, Any]) -> None:
        """Connect and send the first request; its reply is read by `first`.

        Raises:
            CandidateDied: no broker listens.
        """
        import socket

        path = os.environ.get(SOCKET_VARIABLE)
        if not path:
            raise CandidateDied(
                f"{SOCKET_VARIABLE} is not set: candidates run under frozenbench's grader alone"
            )
        self._lock = allocate_lock()
        self._pending = bytearray()
        self._number = 0
        self._broken: str | None = None
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
            self._send(head)
        except OSError as error:
            self.close(f"the candidate's process cannot be reached: {error}")
            self._check()

    def first(self) -> dict[str, Any]:
        """Return the reply to the first request.

        Raises:
            CandidateDied: the child is gone or says nothing that can be understood.
        """
        with self._lock:
            return self._receive()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its reply. Raises as `first` does."""
        with self._lock:
            self._check()
            self._number += 1
            with suppress(OSError):  # why it is gone may still be there to be read
                self._send({"n": self._number, **request})
            return self._receive()

    def close(self, why: str = "the candidate's process was ended") -> None:
        """End the connection, and so the child."""
        self._broken = self._broken or why
        self._socket.close()

    def __del__(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()

    def _check(self) -> None:
        if self._broken is not None:
            raise CandidateDied(self._broken)

    def _send(self, request: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(request).encode("ascii") + b"\n")

    def _receive(self) -> dict[str, Any]:
        try:
            reply = _DECODER.decode(self._line().decode("ascii"))
        except OSError as error:
            self.close(f"the candidate's process cannot be reached: {error}")
        except (ValueError, RecursionError, MemoryError):
            self.close("the candidate's process sent what is no answer")
        except BaseException:
            self.close("the wait for the candidate's answer was broken off")
            raise
        else:
            if type(reply) is dict and type(reply.get("died")) is str:
                self.close(reply["died"])
            elif type(reply) is dict and reply.get("n") == self._number:
                return reply
            else:
                self.close("the candidate's process sent what is no answer to the question")
        self._check()
        raise AssertionError

    def _line(self) -> bytes:
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0:
            searched = len(self._pending)
            data = self._socket.recv(1 << 16)
            if not data:
                raise OSError("it is gone")
            self._pending += data
            if len(self._pending) > MAX_LINE:
                raise OSError("its answer is too long")
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line


def _small(digits: str) -> int:
    """Return a whole number; long ones take time to read, and are never sent in digits."""
    if len(digits) > _MAX_DIGITS:
        raise ValueError("a number of too many digits")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_small)
