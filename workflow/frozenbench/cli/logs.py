"""`frozenbench import`: logs of other harnesses as one table, with every mark by name."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenbench.cli import Command


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", help="a format, or auto: each file is recognised by itself")
    parser.add_argument("paths", nargs="+", help="log files, or folders of them")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the Parquet table to write"
    )
    parser.add_argument(
        "--axis",
        help="calls, steps, edit_rounds, tokens, cost or seconds (default: the first told)",
    )
    parser.add_argument(
        "--caps",
        default="powers",
        help="caps with commas, powers (of two, the default), or all (break points)",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="AXIS=VALUE",
        help="the harness's own limit, where the log does not state it",
    )
    parser.add_argument(
        "--tasks",
        choices=["same", "common", "all"],
        default="same",
        help="what to do where the agents ran different tasks (default: say so)",
    )
    parser.add_argument(
        "--agents-by",
        choices=["log", "name", "run"],
        default="log",
        help="what tells agents of one name apart: what their logs state (the default; the same "
        "settings twice are repeats), their names alone, or their runs: each folder or file",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="another name for an agent, once agents are told apart",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")


def _import(a: argparse.Namespace) -> int:
    from frozenbench.importers.command import Request, import_to_file

    request = Request(
        form=a.format,
        paths=tuple(a.paths),
        out=a.out,
        axis=a.axis,
        caps=tuple(a.caps.split(",")),
        limits=tuple(a.limit),
        names=tuple(a.name),
        tasks=a.tasks,
        agents_by=a.agents_by,
        jobs=a.jobs,
    )
    return import_to_file(request)


IMPORT = Command(
    "read logs of other harnesses into one table, cut at caps afterwards",
    _declare,
    _import,
    "frozenbench import auto logs/ --axis calls --caps 0,1,2,4,8 --out imported.parquet",
)
