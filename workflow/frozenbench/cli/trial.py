"""`frozenbench try`: one small task of an agent against a scripted endpoint."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenbench.cli import Command

#: Option -> the budget's field.
_CAPS = {"tool-calls": int, "edit-rounds": int, "tokens": int, "seconds": float}


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", help="an agent of this project, or a preset")
    parser.add_argument(
        "--script", type=Path, help="what the endpoint plays, YAML or JSON (see docs/presets.md)"
    )
    for name, kind in _CAPS.items():
        parser.add_argument(f"--max-{name}", type=kind, help="a cap of the trial's budget")
    parser.add_argument(
        "--verbose", action="store_true", help="also every request, the trace and the log"
    )


def _run(a: argparse.Namespace) -> int:
    from frozenbench.scripted_endpoint import read_script
    from frozenbench.try_agent import try_agent

    fields = [f"max_{name.replace('-', '_')}" for name in _CAPS]
    caps = {field: value for field in fields if (value := getattr(a, field)) is not None}
    script = None if a.script is None else read_script(a.script)
    tried = try_agent(a.agent, Path(), script, caps)
    for line in tried.lines(a.verbose):
        print(line)
    return tried.status


TRY = Command(
    "run one small task of an agent against a scripted endpoint; print what was metered",
    _declare,
    _run,
    "frozenbench try claude-code --max-tool-calls 2\n"
    "  frozenbench try mine --script faults.yaml --verbose",
)
