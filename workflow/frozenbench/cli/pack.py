"""`frozenbench pack`: what one does with a pack before agents run on it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from frozenbench.cli import Command


def _declare(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, (summary, declare, run) in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        declare(action)
        action.set_defaults(run_action=run)


def _run(a: argparse.Namespace) -> int:
    status: int = a.run_action(a)
    return status


def _declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pack", type=Path, metavar="PACK", help="the pack's folder")
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        metavar="K",
        help="how often each reference is graded; 20 find a test that fails one time in five "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--isolation", default="userns", help="level of the sandbox (default: %(default)s)"
    )
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="ID",
        help="check this task alone (may stand several times); the result is not stored",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _check(a: argparse.Namespace) -> int:
    import json

    from frozenbench.pack_check.check import Asked, check_pack, report_lines

    checked = check_pack(Asked(a.pack, a.repeats, a.isolation, tuple(a.task)))
    if a.json:
        json.dump(checked.document, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        for line in report_lines(checked):
            print(line)
    return 1 if checked.findings else 0


Action = tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
_ACTIONS: dict[str, Action] = {
    "check": (
        "try a pack's graders on what it brings: right, wrong and bare",
        _declare_check,
        _check,
    )
}

PACK = Command(
    "check: try a pack's graders on what it brings before any agent runs",
    _declare,
    _run,
    "frozenbench pack check packs/starter",
)
