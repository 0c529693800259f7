"""Runs a `python` agent inside the sandbox: one JSON line in, one JSON line out.

Started as `python agent_loop.py MODULE ATTRIBUTE ROOT…`. The agent's prints go to standard error,
so that nothing but answers stands on the way out.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import traceback
from typing import Any


def main() -> int:
    """Import the agent, say ready, answer proposals until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, attribute, *roots = sys.argv[1:]
    sys.path[:0] = roots
    try:
        propose = getattr(importlib.import_module(module), attribute)
    except BaseException:
        _say(answers, {"crashed": traceback.format_exc(limit=-4)})
        return 1
    _say(answers, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        _sync(request["changes"])
        try:
            proposal = propose(request["task"], request["history"])
            text = json.dumps({"proposal": proposal})
        except BaseException:
            _say(answers, {"crashed": traceback.format_exc(limit=-4)})
            return 1
        answers.write(text + "\n")
        answers.flush()
    return 0


def _say(answers: Any, value: dict[str, Any]) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def _sync(changes: dict[str, str | None]) -> None:
    """Bring the work folder to the state after the agent's delivered proposals."""
    for path, content in changes.items():
        if content is None:
            if os.path.lexists(path):
                os.unlink(path)
            continue
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as handle:
            handle.write(base64.b64decode(content))


if __name__ == "__main__":
    sys.exit(main())
