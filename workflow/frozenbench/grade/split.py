"""Grading under `split`: hidden tests in a trusted box, the candidate's code in boxes of its own."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import Failed, File
from frozenbench.grade.boxes import HARNESS, grading_box, with_variable
from frozenbench.grade.candidates import Candidates
from frozenbench.grade.evidence import Evidence
from frozenbench.sandbox import Limits, Mount, Running, start, work_folder

Tree = Mapping[str, File]

#: Where the trusted process finds the way to the candidate.
SOCKET = "/run/frozenbench/candidate"
VARIABLE = "FROZENBENCH_CANDIDATE"

#: How long the trusted process may take to import pytest, s: it is on nobody's clock.
START_SECONDS = 120.0


@dataclass(frozen=True)
class Found:
    """What one grading left; `fault` is set where the machinery failed, not the candidate."""

    evidence: Evidence
    output: bytes
    seconds: float
    fault: str | None = None


class SplitSession:
    """One trusted process, and one artifact after another for it to judge."""

    def __init__(
        self,
        hidden: Tree,
        spec: Mapping[str, Any],
        environment: Path,
        isolation: str,
        seconds: float,
    ) -> None:
        self._hidden = hidden
        self._spec = spec
        self._environment = environment
        self._isolation = isolation
        self._seconds = seconds
        self._stack = ExitStack()
        self._door: Candidates | None = None
        self._trusted: Running | None = None

    def grade(self, artifact: Tree) -> Found:
        """Grade one artifact within the grader's clock, which starts with its first test."""
        try:
            door, trusted = self._ready()
        except Failed as error:
            self.close()
            return Found(Evidence(b"", "", False, None), b"", 0.0, str(error))
        door.hold(artifact)
        nonce = secrets.token_hex(16)
        started = time.monotonic()
        trusted.write_line(json.dumps({"nonce": nonce}).encode())
        report, last = self._listen(trusted, nonce, started + self._seconds)
        seconds = time.monotonic() - started
        timed_out = last is None and trusted.ended is None
        output = b"" if last is None else str(last["output"]).encode("utf-8", "replace")
        if printed := door.output:
            output += b"\n[the candidate printed]\n" + printed
        status = None if last is None else last["status"]
        if last is None:
            self.close()  # nothing more can be asked of this process
        fault = door.fault
        return Found(Evidence(report, nonce, timed_out, status), output, seconds, fault)

    def _listen(
        self, trusted: Running, nonce: str, deadline: float
    ) -> tuple[bytes, dict[str, Any] | None]:
        """Return the report's lines, and the last one: None where the clock or the process ended."""
        lines: list[bytes] = []
        while (line := trusted.read_line(deadline)) is not None:
            fact = json.loads(line)
            if fact["nonce"] == nonce and "status" in fact:
                return b"\n".join(lines), fact
            lines.append(line)
        return b"\n".join(lines), None

    def _ready(self) -> tuple[Candidates, Running]:
        if self._door is None or self._trusted is None:
            limits = Limits(seconds=None)
            self._door = self._stack.enter_context(
                Candidates(self._environment, self._isolation, limits)
            )
            self._trusted = self._started(self._door)
        return self._door, self._trusted

    def _started(self, door: Candidates) -> Running:
        work = self._stack.enter_context(work_folder())
        box = grading_box(
            work, self._environment, self._isolation, None, Mount(door.socket, SOCKET)
        )
        box = with_variable(box, VARIABLE, SOCKET)
        argv = [box.python, "-I", box.seen(f"{HARNESS}/grade_split.py")]
        trusted = self._stack.enter_context(start(box, argv))
        files = {
            path: [base64.b64encode(file.data).decode("ascii"), file.executable]
            for path, file in self._hidden.items()
        }
        modules = box.seen(f"{HARNESS}/trusted")
        # Below walls they are everybody's; HOME is the box's own at each level.
        scratch = ["/tmp", "/dev/shm"] if box.walled else []
        orders = {"files": files, "spec": self._spec, "modules": modules, "scratch": scratch}
        deadline = time.monotonic() + START_SECONDS
        trusted.write_line(json.dumps(orders).encode(), deadline)
        if trusted.read_line(deadline) is None:
            ended = trusted.close()
            text = ended.output[-2000:].decode("utf-8", "replace").strip()
            raise Failed(f"the test harness did not start: {text}")
        return trusted

    def close(self) -> None:
        """End the trusted process and every candidate."""
        self._stack.close()
        self._stack = ExitStack()
        self._door = self._trusted = None
