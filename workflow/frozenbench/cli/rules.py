"""One subcommand a rule. What a subcommand needs is imported when it runs: cells start fast."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from frozenbench.cli import Command

Declare = Callable[[argparse.ArgumentParser], None]


def _arguments(*names: str, cell: bool = False, optional: tuple[str, ...] = ()) -> Declare:
    """Return a function that declares path options, and the four names of a cell."""

    def declare(parser: argparse.ArgumentParser) -> None:
        for name in names:
            parser.add_argument(f"--{name}", type=Path, required=name not in optional)
        if cell:
            for name in ("agent", "task", "budget"):
                parser.add_argument(f"--{name}", required=True)
            parser.add_argument("--repeat", type=int, required=True)

    return declare


def _with_task(parser: argparse.ArgumentParser) -> None:
    _arguments("pack", "out")(parser)
    parser.add_argument("--task", required=True)


def _with_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", required=True)
    _arguments("out")(parser)


def _freeze_task(a: argparse.Namespace) -> int:
    from frozenbench.freeze_task import freeze_task

    freeze_task(a.pack, a.task, a.out)
    return 0


def _freeze_grader(a: argparse.Namespace) -> int:
    from frozenbench.freeze_grader import freeze_grader

    freeze_grader(a.pack, a.task, a.out)
    return 0


def _declare_freeze_agent(parser: argparse.ArgumentParser) -> None:
    _arguments("out")(parser)
    parser.add_argument("--agent", required=True)


def _freeze_agent(a: argparse.Namespace) -> int:
    from frozenbench.freeze_agent import freeze_agent

    freeze_agent(a.agent, a.out)
    return 0


def _freeze_controls(a: argparse.Namespace) -> int:
    from frozenbench.freeze_controls import freeze_controls
    from frozenbench.plan import load_plan

    freeze_controls(load_plan(a.config), a.out)
    return 0


def _freeze_view(a: argparse.Namespace) -> int:
    from frozenbench.freeze_view import freeze_view
    from frozenbench.import_plan import is_import, load_import_plan
    from frozenbench.plan import load_plan

    freeze_view(load_import_plan(a.config) if is_import(a.config) else load_plan(a.config), a.out)
    return 0


def _freeze_record(a: argparse.Namespace) -> int:
    from frozenbench import layout
    from frozenbench.freeze_record import freeze_record

    freeze_record(a.record, layout.RESPONSES, a.out)
    return 0


def _build_environment(a: argparse.Namespace) -> int:
    from frozenbench.build_environment import build_environment

    build_environment(a.lock, a.out)
    return 0


def _declare_isolation(*names: str) -> Declare:
    def declare(parser: argparse.ArgumentParser) -> None:
        _arguments(*names)(parser)
        parser.add_argument("--isolation", required=True)

    return declare


def _freeze_names(a: argparse.Namespace) -> int:
    from frozenbench.freeze_names import freeze_names

    freeze_names(a.environment, a.isolation, a.out)
    return 0


def _freeze_expected(a: argparse.Namespace) -> int:
    from frozenbench.freeze_expected import freeze_expected
    from frozenbench.process import lead_and_follow

    lead_and_follow()
    freeze_expected(a.grader_files, a.task_files, a.environment, a.isolation, a.out)
    return 0


def _declare_run_cell(parser: argparse.ArgumentParser) -> None:
    optional = ("agent_files", "solution")
    names = ("controls", "task_files", "agent_files", "solution", "environment", "out")
    _arguments(*names, cell=True, optional=optional)(parser)
    parser.add_argument("--startup_timeout_s", type=float, default=300.0)
    parser.add_argument("--max_spend", type=float, help="of the whole experiment")


def _run_cell(a: argparse.Namespace) -> int:
    from frozenbench.process import lead_and_follow
    from frozenbench.run_cell import RunInputs, run_cell

    lead_and_follow()
    values = {name: value for name, value in vars(a).items() if name != "out"}
    run_cell(RunInputs(**values), a.out)
    return 0


def _grade_cell(a: argparse.Namespace) -> int:
    from frozenbench.grade_cell import GradeInputs, grade_cell
    from frozenbench.process import lead_and_follow

    lead_and_follow()
    values = {name: value for name, value in vars(a).items() if name != "out"}
    grade_cell(GradeInputs(**values), a.out)
    return 0


def _collect_cells(a: argparse.Namespace) -> int:
    from frozenbench.collect_cells import collect_cells

    collect_cells(a.controls, a.record, a.out)
    return 0


def _declare_import_logs(parser: argparse.ArgumentParser) -> None:
    _with_config(parser)
    parser.add_argument("--jobs", type=int, default=2)


def _import_logs(a: argparse.Namespace) -> int:
    from frozenbench.import_logs import import_logs
    from frozenbench.import_plan import load_import_plan

    import_logs(load_import_plan(a.config), a.out, a.jobs)
    return 0


def _list_crossings(a: argparse.Namespace) -> int:
    from frozenbench.frozen import read_controls
    from frozenbench.list_crossings import list_crossings

    read_controls(a.controls)
    list_crossings(a.counts, a.statistics, a.controls, a.out)
    return 0


def _contrast(a: argparse.Namespace) -> int:
    from frozenbench.contrast import contrast
    from frozenbench.frozen import read_controls

    read_controls(a.controls)
    contrast(a.cells, a.measured, a.controls, a.view, a.refusals, a.out)
    return 0


def _declare_draw_figure(parser: argparse.ArgumentParser) -> None:
    _arguments("statistics", "controls", "view", "measured", "cells", "out")(parser)
    parser.add_argument("--figure", required=True)


def _draw_figure(a: argparse.Namespace) -> int:
    from frozenbench.draw_figure import draw_figure
    from frozenbench.frozen import read_controls

    read_controls(a.controls)
    draw_figure(a.figure, a.statistics, a.controls, a.view, a.measured, a.cells, a.out)
    return 0


def _write_page(a: argparse.Namespace) -> int:
    from frozenbench.frozen import read_controls
    from frozenbench.write_page import write_page

    read_controls(a.controls)
    write_page(a.statistics, a.controls, a.view, a.measured, a.cells, a.out, a.figures)
    return 0


def _write_tables(a: argparse.Namespace) -> int:
    from frozenbench.frozen import read_controls
    from frozenbench.write_tables import write_tables

    read_controls(a.controls)
    write_tables(a.statistics, a.controls, a.view, a.measured, a.cells, a.out)
    return 0


def _publish(a: argparse.Namespace) -> int:
    from frozenbench.publish import publish

    publish(a.experiment, a.view_folder, a.out, a.marker)
    return 0


def _check_score(a: argparse.Namespace) -> int:
    from frozenbench.check_score import check_score

    return check_score(a.published, a.out)


_CELL_INPUTS = (
    "controls",
    "run",
    "task_files",
    "grader_files",
    "expected",
    "names",
    "environment",
    "out",
)

#: In the order of the data.
COMMANDS: dict[str, Command] = {
    "freeze_controls": Command(
        "write the controls of an experiment",
        _with_config,
        _freeze_controls,
        "frozenbench freeze_controls --config config/config.yaml --out "
        "results/experiments/NAME-DIGEST/controls.json",
        rule=True,
    ),
    "freeze_view": Command(
        "write the settings of a view",
        _with_config,
        _freeze_view,
        "frozenbench freeze_view --config config/config.yaml --out "
        "results/experiments/NAME-DIGEST/views/DIGEST/view.json",
        rule=True,
    ),
    "freeze_task": Command(
        "copy a task to its content-addressed place",
        _with_task,
        _freeze_task,
        "frozenbench freeze_task --pack packs/starter --task t02_off_by_one --out "
        "results/frozen/tasks/DIGEST",
        rule=True,
    ),
    "freeze_grader": Command(
        "copy a grader to its content-addressed place",
        _with_task,
        _freeze_grader,
        "frozenbench freeze_grader --pack packs/starter --task t02_off_by_one --out "
        "results/frozen/graders/DIGEST",
        rule=True,
    ),
    "freeze_agent": Command(
        "copy an agent's sheet and code to their content-addressed place",
        _declare_freeze_agent,
        _freeze_agent,
        "frozenbench freeze_agent --agent write_once --out results/frozen/agents/DIGEST",
        rule=True,
    ),
    "freeze_record": Command(
        "unpack a committed record into the store",
        _arguments("record", "out", optional=("record",)),
        _freeze_record,
        "frozenbench freeze_record --record records/default.jsonl.gz --out "
        "results/frozen/records/ID.json",
        rule=True,
    ),
    "build_environment": Command(
        "build a pack's own Python environment from its lock",
        _arguments("lock", "out", optional=("lock",)),
        _build_environment,
        "frozenbench build_environment --lock packs/starter/requirements.txt --out "
        "results/frozen/environments/ID",
        rule=True,
    ),
    "freeze_names": Command(
        "list the modules and names of a pack environment",
        _declare_isolation("environment", "out"),
        _freeze_names,
        "frozenbench freeze_names --environment results/frozen/environments/ID --isolation "
        "userns --out results/frozen/names/ID.json",
        rule=True,
    ),
    "freeze_expected": Command(
        "find the test ids that must pass",
        _declare_isolation("grader_files", "task_files", "environment", "out"),
        _freeze_expected,
        "frozenbench freeze_expected --grader_files results/frozen/graders/DIGEST …",
        rule=True,
    ),
    "run_cell": Command(
        "let one agent work on one task under one budget",
        _declare_run_cell,
        _run_cell,
        "frozenbench run_cell --agent write_once --task t02_off_by_one --budget calls-2 …",
        rule=True,
    ),
    "grade_cell": Command(
        "grade one run and put it into an outcome",
        _arguments(*_CELL_INPUTS, cell=True),
        _grade_cell,
        "frozenbench grade_cell --run results/runs/KEY …",
        rule=True,
    ),
    "collect_cells": Command(
        "gather all cells into the tables",
        _arguments("controls", "record", "out"),
        _collect_cells,
        "frozenbench collect_cells --controls results/experiments/NAME-DIGEST/controls.json …",
        rule=True,
    ),
    "import_logs": Command(
        "read the logs of a config with `source` and write the experiment's tables",
        _declare_import_logs,
        _import_logs,
        "frozenbench import_logs --config config/import_example.yaml --out "
        "results/experiments/NAME-DIGEST",
        rule=True,
    ),
    "contrast": Command(
        "compute rates, contrasts and flips",
        _arguments("cells", "measured", "controls", "view", "refusals", "out"),
        _contrast,
        "frozenbench contrast --cells results/experiments/NAME-DIGEST/cells.parquet …",
        rule=True,
    ),
    "list_crossings": Command(
        "list every change of lead along all caps of an import",
        _arguments("counts", "statistics", "controls", "out"),
        _list_crossings,
        "frozenbench list_crossings --counts COUNTS --statistics FOLDER --controls CONTROLS --out "
        "results/experiments/NAME-DIGEST/views/DIGEST/crossings",
        rule=True,
    ),
    "draw_figure": Command(
        "draw one figure as PDF, SVG and PNG",
        _declare_draw_figure,
        _draw_figure,
        "frozenbench draw_figure --figure budget_curves …",
        rule=True,
    ),
    "write_page": Command(
        "write the results page and score_bundle.json",
        _arguments(
            *("statistics", "controls", "view", "measured", "cells", "figures", "out"),
            optional=("figures",),
        ),
        _write_page,
        "frozenbench write_page --statistics results/experiments/…/statistics …",
        rule=True,
    ),
    "write_tables": Command(
        "write what an article includes: numbers, tables, controls, references",
        _arguments("statistics", "controls", "view", "measured", "cells", "out"),
        _write_tables,
        "frozenbench write_tables --statistics results/experiments/…/statistics …",
        rule=True,
    ),
    "publish": Command(
        "show an experiment and view at results/<name>/",
        _arguments("experiment", "view_folder", "out", "marker"),
        _publish,
        "frozenbench publish --experiment results/experiments/NAME-DIGEST …",
        rule=True,
    ),
    "check_score": Command(
        "print the closing lines, or fail with what refuses the score",
        _arguments("published", "out"),
        _check_score,
        "frozenbench check_score --published results/default --out results/default/.checked",
        rule=True,
    ),
}
