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
from contextlib import suppress
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
    child = os.fork()
    if child == 0:
        _be_the_child(facts, writing, nonce, spec)
    os.close(writing)
    output, ended = _listen(child, reading)
    os.close(reading)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # where there is no /proc, this is all
    end_descendants()
    return (os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None), output


def _be_the_child(facts: int, output: int, nonce: str, spec: dict[str, Any]) -> None:
    status = 70
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = run_tests(Report(facts, nonce), spec)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _listen(child: int, reading: int) -> tuple[bytes, int]:
    """Gather output until the child has ended: what it started may hold the pipe for longer."""
    kept = b""
    closed = False
    while True:
        if closed or not select.select([reading], [], [], 0.02)[0]:
            pid, ended = os.waitpid(child, 0 if closed else os.WNOHANG)
            if pid:
                return kept, ended
            continue
        piece = os.read(reading, 1 << 16)
        closed = not piece
        kept = (kept + piece)[-MAX_OUTPUT:]


if __name__ == "__main__":
    sys.exit(main())
