"""`frozenbench replay`: an experiment again, from its record alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenbench.cli import Command


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="config/config.yaml", help="the experiment (default: %(default)s)"
    )
    parser.add_argument(
        "--record", type=Path, help="replay from this record alone (default: the store's responses)"
    )
    parser.add_argument("--keep", type=Path, help="a new folder in which the replay's files stay")
    parser.add_argument(
        "--jobs", type=int, default=2, help="cells at one time (default: %(default)s)"
    )


def _run(a: argparse.Namespace) -> int:
    import sys

    from frozenbench.canonical import BadInput
    from frozenbench.plan import load_plan
    from frozenbench.replay import replay, replay_lines

    if a.jobs < 1:
        raise BadInput(f"--jobs: is {a.jobs}; cure: 1 or more")
    found = replay(load_plan(a.config), a.record, a.keep, a.jobs, sys.stderr)
    for line in replay_lines(found, a.keep):
        print(line)
    return found.status


REPLAY = Command(
    "rerun an experiment from its record alone, in an empty store, and compare cell by cell",
    _declare,
    _run,
    "frozenbench replay --record records/default.jsonl.gz",
)
