"""The subcommands for people."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from frozenbench.cli import Command
from frozenbench.cli.logs import IMPORT
from frozenbench.cli.pack import PACK
from frozenbench.cli.replays import REPLAY
from frozenbench.cli.trial import TRY


def _with_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="config/config.yaml", help="the experiment (default: %(default)s)"
    )


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _plan(a: argparse.Namespace) -> int:
    from frozenbench.forecast import forecast_lines
    from frozenbench.import_plan import is_import, load_import_plan
    from frozenbench.plan import load_plan
    from frozenbench.preflight import preflight

    if is_import(a.config):
        _print(load_import_plan(a.config).forecast())
        return 0

    _print(forecast_lines(preflight(load_plan(a.config))))
    return 0


def _declare_explain(parser: argparse.ArgumentParser) -> None:
    _with_config(parser)
    parser.add_argument("cell", nargs="*", help="a key, or AGENT TASK BUDGET [REPEAT]")
    parser.add_argument("--why", action="store_true", help="what differs from the nearest run")


def _explain(a: argparse.Namespace) -> int:
    from frozenbench import explain
    from frozenbench.plan import load_plan

    plan = load_plan(a.config)
    if not a.cell:
        _print(explain.experiment_lines(plan))
        return 0
    cell = explain.find_cell(plan, a.cell)
    _print(explain.why_lines(plan, cell) if a.why else explain.cell_lines(plan, cell))
    return 0


def _declare_show(parser: argparse.ArgumentParser) -> None:
    _with_config(parser)
    parser.add_argument("cell", nargs="*", help="a key, or AGENT TASK BUDGET [REPEAT]")


def _show(a: argparse.Namespace) -> int:
    from frozenbench.import_plan import is_import, load_import_plan
    from frozenbench.plan import load_plan

    if is_import(a.config) and not a.cell:
        imported = load_import_plan(a.config)
        return _show_score(imported.name, imported.digest)
    plan = load_plan(a.config)
    if a.cell:
        from frozenbench.explain import find_cell
        from frozenbench.show import show_cell

        _print(show_cell(plan, find_cell(plan, a.cell)))
        return 0
    return _show_score(plan.name, plan.digest)


def _show_score(name: str, digest: str) -> int:
    from frozenbench import layout
    from frozenbench.check_score import published_lines

    lines, status = published_lines(layout.published(name), digest)
    _print(lines)
    if status == 0:
        folder = layout.published(name)
        print(f"next: look at {folder}/index.html and {folder}/figures/")
    return status


def _retry(a: argparse.Namespace) -> int:
    from frozenbench.plan import load_plan
    from frozenbench.retry import retry

    _print(retry(load_plan(a.config)))
    return 0


def _declare_record(parser: argparse.ArgumentParser) -> None:
    _with_config(parser)
    parser.add_argument("action", choices=["export"], help="export: write the record that is named")
    parser.add_argument("--out", type=Path, help="the file (default: responses.record)")


def _record(a: argparse.Namespace) -> int:
    from frozenbench.plan import load_plan
    from frozenbench.record import export

    _print(export(load_plan(a.config), a.out))
    return 0


def _declare_verify(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(bundle=None)


def _verify(a: argparse.Namespace) -> int:
    from frozenbench.verify import verify_store

    problems = list(verify_store())
    _print(problems)
    if problems:
        print(f"{len(problems)} problems; cure: remove what is named, then snakemake --cores 4")
        return 1
    print("results/ is what its paths promise, and what is published is what the tables give")
    return 0


def _declare_sandbox(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--level", help="exit with 3 and the cure where this machine gives less")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def _sandbox(a: argparse.Namespace) -> int:
    from frozenbench.sandbox_report import sandbox_report

    _print(sandbox_report(a.level, as_json=a.json))
    return 0


def _declare_gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--remove", action="store_true", help="remove what is listed")


def _gc(a: argparse.Namespace) -> int:
    from frozenbench.gc import collect_garbage

    _print(collect_garbage(a.remove))
    return 0


COMMANDS: dict[str, Command] = {
    "plan": Command(
        "say what would run, and the most that it can cost",
        _with_config,
        _plan,
        "frozenbench plan --config config/starter.yaml",
    ),
    "pack": PACK,
    "try": TRY,
    "import": IMPORT,
    "show": Command(
        "print the closing lines; with a cell: prompt, difference, trace, grader log",
        _declare_show,
        _show,
        "frozenbench show oneshot f01_rectangle_area calls-1",
    ),
    "explain": Command(
        "print what a key is made of; --why: which control differs",
        _declare_explain,
        _explain,
        "frozenbench explain oneshot f01_rectangle_area calls-1 --why",
    ),
    "retry": Command(
        "set cells with an infrastructure ERROR aside for another attempt",
        _with_config,
        _retry,
        "frozenbench retry && snakemake --cores 4",
    ),
    "record": Command(
        "write the responses of an experiment as a record to publish",
        _declare_record,
        _record,
        "frozenbench record export --out records/mine.jsonl.gz",
    ),
    "replay": REPLAY,
    "verify": Command(
        "re-hash everything in results/",
        _declare_verify,
        _verify,
        "frozenbench verify",
    ),
    "sandbox": Command(
        "say what isolation this machine gives, and how to get more",
        _declare_sandbox,
        _sandbox,
        "frozenbench sandbox --level userns+cgroup",
    ),
    "gc": Command(
        "list what no experiment refers to; --remove: remove it",
        _declare_gc,
        _gc,
        "frozenbench gc --remove",
    ),
}
