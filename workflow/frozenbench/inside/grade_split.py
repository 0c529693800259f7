"""Runs hidden tests in a trusted process that never imports the candidate, for one tree at a time.

Started as `python -I grade_split.py`. Standard input brings JSON lines: first {"files": {path: [data
in base64, executable]}, "spec": as of grade_pytest, "modules": folder of frozenbench_candidate,
"scratch": folders to be emptied before each artifact, beside HOME and the work folder}, then
{"nonce": …} for each artifact; on the other side of FROZENBENCH_CANDIDATE stands that artifact's
code. Each is graded in a fork, so that pytest is imported once; whatever descends from it is ended
with it, so that nothing of one grading is left for the next. Standard output gives the lines of
grade_pytest's report, then {"nonce", "status", "output"}: the fork's exit status, null where a
signal ended it, and the last of what it printed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from agent_loop import WorkFolder, emptied  # type: ignore[import-not-found]
from descendants import adopt_orphans, end_descendants  # type: ignore[import-not-found]
from grade_pytest import (  # type: ignore[import-not-found]
    Report,
    import_pytest,
    run_tests,
)

MAX_OUTPUT = 64 * 1024


def main() -> int:
    """Say ready, then grade once for each line."""
    orders = os.fdopen(os.dup(0), encoding="utf-8")
    facts = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    adopt_orphans()
    start = json.loads(orders.readline())
    sys.path.append(start["modules"])
    work = WorkFolder(os.getcwd())
    work.bring_to(start["files"])
    import_pytest("frozenbench_candidate")
    Report(os.dup(facts), "").say(ready=True)
    for line in orders:
        nonce = json.loads(line)["nonce"]
        work.bring_to({})
        for folder in (os.environ["HOME"], *start["scratch"]):
            emptied(folder)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            os.environ["TMPDIR"] = scratch
            status, output = in_a_fork(facts, nonce, start["spec"])
            os.environ.pop("TMPDIR")
        Report(os.dup(facts), nonce).say(status=status, output=output.decode("utf-8", "replace"))
    return 0


def in_a_fork(facts: int, nonce: str, spec: dict[str, Any]) -> tuple[int | None, bytes]:
    """Run the tests in a child; return its exit status and the end of what it printed."""
    reading, writing = os.pipe()
    with _told_of_ends() as ends:
        child = os.fork()
        if child == 0:
            _be_the_child(facts, writing, nonce, spec)
        os.close(writing)
        output, ended = _listen(child, reading, ends)
    os.close(reading)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # where there is no /proc, this is all
    end_descendants()
    return (os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None), output


@contextmanager
def _told_of_ends() -> Iterator[int]:
    """Give a descriptor that can be read whenever a process below us has ended."""
    told, tells = os.pipe()
    os.set_blocking(told, False)
    os.set_blocking(tells, False)
    before = signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    try:
        yield told
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, before)
        os.close(told)
        os.close(tells)


def _be_the_child(facts: int, output: int, nonce: str, spec: dict[str, Any]) -> None:
    status = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = run_tests(Report(facts, nonce), spec)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _listen(child: int, reading: int, ends: int) -> tuple[bytes, int]:
    """Gather output until the child has ended: what it started may hold the pipe for longer.

    Whatever else ends is buried at once: the dead count against the limit of the box.
    """
    kept = b""
    waiting = [reading, ends]
    while True:
        ready = select.select(waiting, [], [])[0]
        if reading in ready:
            piece = os.read(reading, 1 << 16)
            kept = (kept + piece)[-MAX_OUTPUT:]
            if not piece:
                waiting.remove(reading)
        if ends in ready:
            os.read(ends, 1 << 16)
            if (ended := _bury(child)) is not None:
                return (kept + _what_is_there(reading))[-MAX_OUTPUT:], ended


def _bury(child: int) -> int | None:
    """Wait for all that has ended; return how the child did, None while it lives."""
    found = None
    with suppress(ChildProcessError):
        while (process := os.waitpid(-1, os.WNOHANG))[0]:
            if process[0] == child:
                found = process[1]
    return found


def _what_is_there(reading: int) -> bytes:
    """Return what the pipe holds now: the child has written it before it ended."""
    os.set_blocking(reading, False)
    with suppress(BlockingIOError):
        return os.read(reading, 1 << 16)  # as much as a pipe holds
    return b""


if __name__ == "__main__":
    sys.exit(main())
