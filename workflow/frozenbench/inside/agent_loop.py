"""Runs a `python` agent inside the sandbox: one JSON line in, one JSON line out.

Started as `python agent_loop.py MODULE ATTRIBUTE ROOT…` in the work folder. The agent's prints go
to standard error and its standard input is empty, so that requests and answers pass untouched.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import os
import shutil
import sys
import traceback
from typing import Any


def main() -> int:
    """Import the agent, say ready, answer proposals until the input ends."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # or an agent that is ended has said nothing
    module, attribute, *roots = sys.argv[1:]
    sys.path[:0] = roots
    try:
        work = WorkFolder(os.getcwd())
        propose = getattr(importlib.import_module(module), attribute)
    except BaseException:
        _say(answers, {"crashed": traceback.format_exc(limit=-4)})
        return 1
    _say(answers, {"ready": True})
    for line in requests:
        request = json.loads(line)
        try:
            work.bring_to(request["changes"])
            answer = {"proposal": _checked(propose(request["task"], request["history"]))}
            _say(answers, answer)
        except BaseException:
            _say(answers, {"crashed": traceback.format_exc(limit=-4)})
            return 1
    return 0


def _say(answers: Any, value: dict[str, Any]) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def _checked(proposal: Any) -> Any:
    """Refuse keys that JSON would turn into text: a file named None is a mistake."""
    for mapping in (proposal, proposal.get("files") if isinstance(proposal, dict) else None):
        for name in mapping if isinstance(mapping, dict) else ():
            if not isinstance(name, str):
                raise TypeError(f"proposal: {name!r} is {type(name).__name__}; text was due")
    return proposal


class WorkFolder:
    """The work folder, brought to the state of the delivered proposals before each call.

    It is empty until the first call, so that no work on the task can be done before the clock runs.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: dict[str, tuple[bytes, bool]] = {}

    def bring_to(self, changes: dict[str, tuple[str, bool] | None]) -> None:
        """Take in what was delivered since, and write the whole tree anew."""
        for path, change in changes.items():
            self._files.pop(path, None)
            if change is not None:
                self._files[path] = base64.b64decode(change[0]), change[1]
        os.chdir(self._folder)
        emptied(".")
        for path, (data, executable) in self._files.items():
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "wb") as handle:
                handle.write(data)
            os.chmod(path, 0o755 if executable else 0o644)


def emptied(folder: str) -> None:
    """Remove all that is in a folder: links, closed folders, and folders where files go too."""
    for root, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(path := os.path.join(root, name)):
                os.chmod(path, 0o700)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry)
        else:
            os.unlink(entry)


if __name__ == "__main__":
    sys.exit(main())
