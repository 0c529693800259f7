"""Rule `contrast`: cells and measured values in, the statistics of PROTOCOL 7 and 8 out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from frozenbench.canonical import BadInput, Refused, canonical_json, read_json
from frozenbench.metrics import CELL_COLUMNS, MEASURED_COLUMNS, SLICES, eligible, summarise
from frozenbench.out_folder import Own, replace_folder
from frozenbench.stats import tables
from frozenbench.stats.bounds import left_out
from frozenbench.stats.compare import Settings, compare
from frozenbench.stats.flips import CAPS, axis_value
from frozenbench.stats.grid import Cell, Grid, build_grid
from frozenbench.stats.results import Comparison

_TABLES = ("summary", "contrasts", "flips", "areas")
#: What a folder of statistics is known by.
OWN = Own(
    ("statistics.json", "refused.json"),
    tuple(f"{name}.{kind}" for name in _TABLES for kind in ("parquet", "csv")),
)


def contrast(
    cells: Path, measured: Path, controls: Path, view: Path, refusals: Path, out: Path
) -> None:
    """Compute and write the statistics of one view of an experiment.

    Reads `cells`, `measured` (Parquet), `controls`, `view` and `refusals` (JSON). Writes the folder
    `out`, whole or not at all: summary, contrasts, flips and areas as Parquet and CSV, and
    statistics.json; or refused.json alone where `refusals` holds any. Equal input gives equal
    bytes, whatever the number of cores.

    Raises:
        BadInput: a file is absent, is not what it should be, or belongs to other controls, or `out`
            is a folder of another kind.
        Refused: a cell or a weight is missing, or no task takes part.
    """
    held = read_json(refusals)
    if not isinstance(held, dict) or not isinstance(held.get("refusals"), list):
        raise BadInput(f'{refusals}: holds no {{"refusals": [...]}}; cure: make it again')
    if held["refusals"]:
        replace_folder(out, {"refused.json": canonical_json(held) + b"\n"}, OWN)
        return
    plan = _read_plan(controls, view)
    cell_table = _read_table(cells, plan, CELL_COLUMNS)
    measured_table = _read_table(measured, plan, MEASURED_COLUMNS)
    replace_folder(out, _files(plan, cell_table, measured_table), OWN)


@dataclass(frozen=True)
class _Plan:
    """What the controls and the view say that the statistics need."""

    controls: Mapping[str, Any]
    pack_sha256: str
    experiment_digest: str
    tasks: frozenset[str]
    repeats: int
    agents: tuple[str, ...]
    budgets: tuple[str, ...]
    settings: Settings


def _read_plan(controls_path: Path, view_path: Path) -> _Plan:
    controls, view = read_json(controls_path), read_json(view_path)
    digest = _get(controls_path, controls, "experiment", "digest")
    caps = _get(controls_path, controls, "budgets")
    agents = tuple(_get(view_path, view, "agents"))
    budgets = tuple(_get(view_path, view, "budgets"))
    axis = _get(view_path, view, "budget_axis")
    if axis not in CAPS:
        raise BadInput(f"{view_path}: budget_axis: {axis!r} is none of {', '.join(CAPS)}")
    compared = {
        name
        for name in _get(controls_path, controls, "agents")
        if not _get(controls_path, controls, "agents", name, "control")
    }
    for key, shown, whole in (("agents", agents, compared), ("budgets", budgets, set(caps))):
        if set(shown) != whole or len(shown) != len(whole):
            raise BadInput(
                f"{view_path}: {key}: {list(shown)} are not those of the controls, "
                f"{sorted(whole)}; tests are corrected over all that the config holds, never over "
                "those shown; cure: make the view again"
            )
    subset = controls.get("task_subset")
    tasks = _get(controls_path, controls, "tasks") if subset is None else subset
    return _Plan(
        controls=controls,
        pack_sha256=_get(controls_path, controls, "pack", "digest"),
        experiment_digest=digest,
        tasks=frozenset(tasks),
        repeats=_get(controls_path, controls, "repeats"),
        agents=agents,
        budgets=budgets,
        settings=Settings(
            budgets={name: caps[name] for name in budgets},
            axis=axis,
            resamples=_get(view_path, view, "statistics", "resamples"),
            alpha=_get(view_path, view, "statistics", "alpha"),
            seed=digest,
        ),
    )


def _get(path: Path, data: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(data, dict) or data.get(key) is None:
            raise BadInput(f"{path}: {'.'.join(keys)}: is missing; cure: make the file again")
        data = data[key]
    return data


def _read_table(path: Path, plan: _Plan, columns: Sequence[str]) -> pd.DataFrame:
    """Read a Parquet table, integers as nullable integers, and check whose it is."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        text = " ".join(str(error).split())
        raise BadInput(f"{path}: is no readable Parquet ({text}); cure: make it again") from None
    digest = _experiment_of(table.schema.metadata)
    if digest != plan.experiment_digest:
        raise BadInput(
            f"{path}: frozenbench.controls: names the experiment {digest}, not "
            f"{plan.experiment_digest}; a table is never read under other controls; "
            "cure: make the table again"
        )
    absent = [name for name in columns if name not in table.column_names]
    if absent:
        raise BadInput(f"{path}: {absent[0]}: the column is missing; cure: make the table again")
    nullable = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable.get)
    return frame


def _experiment_of(metadata: Mapping[bytes, bytes] | None) -> str | None:
    try:
        digest: str = json.loads((metadata or {})[b"frozenbench.controls"])["experiment"]["digest"]
    except (ValueError, KeyError, TypeError):
        return None
    return digest


def _files(plan: _Plan, cells: pd.DataFrame, measured: pd.DataFrame) -> dict[str, bytes]:
    """Return name -> bytes of everything in the folder."""
    budgets = plan.settings.budgets
    axis = {name: axis_value(budgets[name], plan.settings.axis) for name in plan.budgets}
    summary = summarise(cells, measured, plan.agents, plan.budgets, axis)
    passed, exhausted = _grids(plan, cells, "PASS"), _grids(plan, cells, "EXHAUSTED")
    compared = {name: compare(grid, plan.settings) for name, grid in passed.items()}
    without = {name: left_out(grid, exhausted[name]) for name, grid in passed.items()}
    for row in summary:
        for beside in (compared[row["slice"]].ranks, without[row["slice"]]):
            row |= dataclasses.asdict(beside[row["agent"], row["budget"]])
    contrasts = [
        {"slice": name, "axis_value": axis[row.budget], **dataclasses.asdict(row)}
        for name, found in compared.items()
        for row in found.contrasts
    ]
    flips, areas = (
        [
            {"slice": name, **dataclasses.asdict(row)}
            for name, found in compared.items()
            for row in getattr(found, kind)
        ]
        for kind in ("flips", "areas")
    )
    files = {"statistics.json": canonical_json(_statistics(plan, compared)) + b"\n"}
    naming = {"pack_sha256": plan.pack_sha256, "experiment_digest": plan.experiment_digest}
    rows_of = (summary, contrasts, flips, areas)
    columns_of = (tables.SUMMARY, tables.CONTRASTS, tables.FLIPS, tables.AREAS)
    for name, rows, columns in zip(_TABLES, rows_of, columns_of, strict=True):
        files[f"{name}.parquet"] = tables.parquet_bytes(rows, columns, plan.controls)
        files[f"{name}.csv"] = tables.csv_bytes(rows, columns, naming)
    return files


def _grids(plan: _Plan, cells: pd.DataFrame, outcome: str) -> dict[str, Grid]:
    """Return how often each cell had `outcome`, by slice that has tasks, `public` first."""
    run = cells[~cells["control"].astype(bool)]
    if missing := sorted(plan.tasks - set(run["task"])):
        raise Refused(
            f"cells.parquet: task: there is no cell of {missing[0]}; no score is printed over "
            "fewer tasks; cure: run the missing cells"
        )
    kept = eligible(cells)
    if kept.empty:
        raise Refused(
            "cells.parquet: no task takes part in a score (tasks with open network never do); "
            "cure: a pack with tasks whose network is blocked"
        )
    return {
        name: build_grid(_rows(part, outcome), plan.agents, plan.budgets, plan.repeats)
        for name in SLICES
        if not (part := kept[kept["split"] == name]).empty
    }


def _rows(cells: pd.DataFrame, outcome: str) -> list[Cell]:
    columns = [cells[name].tolist() for name in ("agent", "budget", "task", "repeat", "weight")]
    return list(zip(*columns, (cells["outcome"] == outcome).tolist(), strict=True))


def _statistics(plan: _Plan, compared: Mapping[str, Comparison]) -> dict[str, Any]:
    """Return statistics.json: the facts of the first slice on top, those of each below `slices`."""
    first = next(iter(compared))
    return {
        **dataclasses.asdict(compared[first].facts),
        "slice": first,
        "slices": {name: dataclasses.asdict(found.facts) for name, found in compared.items()},
        "alpha": plan.settings.alpha,
        "resamples": plan.settings.resamples,
        "seed": plan.settings.seed,
        "pack_sha256": plan.pack_sha256,
        "experiment_digest": plan.experiment_digest,
    }
