"""The subcommands for people."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from frozenbench.cli import Command


def _with_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="config/config.yaml", help="the experiment (default: %(default)s)"
    )


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _plan(a: argparse.Namespace) -> int:
    from frozenbench.forecast import forecast_lines
    from frozenbench.plan import load_plan
    from frozenbench.preflight import preflight

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
    from frozenbench.plan import load_plan

    plan = load_plan(a.config)
    if a.cell:
        from frozenbench.explain import find_cell
        from frozenbench.show import show_cell

        _print(show_cell(plan, find_cell(plan, a.cell)))
        return 0
    from frozenbench import layout
    from frozenbench.check_score import published_lines

    lines, status = published_lines(layout.published(plan.name), plan.digest)
    _print(lines)
    if status == 0:
        folder = layout.published(plan.name)
        print(f"next: look at {folder}/README.md and {folder}/figures/")
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
    "verify": Command(
        "re-hash everything in results/",
        _declare_verify,
        _verify,
        "frozenbench verify",
    ),
    "gc": Command(
        "list what no experiment refers to; --remove: remove it",
        _declare_gc,
        _gc,
        "frozenbench gc --remove",
    ),
}
