"""import_logs: read the logs of a config with `source`, and write the experiment's tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, write_json
from frozenbench.freeze_controls import check_path
from frozenbench.import_plan import ImportPlan
from frozenbench.importers import cells, notices
from frozenbench.importers.agents import LOG
from frozenbench.importers.caps import Cap
from frozenbench.importers.command import NO_RESPONSES, show_progress
from frozenbench.importers.controls_document import controls_document
from frozenbench.importers.gather import Imported, gather
from frozenbench.importers.study import Choice, Study, make_study
from frozenbench.source_files import files_sha256
from frozenbench.table import CELLS, CONTROLS_KEY, MEASURED, RESPONSES_KEY, sort_key, write_table


def import_logs(plan: ImportPlan, out: Path, jobs: int = 2) -> None:
    """Write controls.json, cells.parquet, measured.parquet, counts.parquet, refusals.json.

    Cap 0 is in the counts alone: no run passes there, so nothing is compared.

    Raises:
        BadInput: the logs changed since the workflow was parsed, or hold nothing to compare.
    """
    check_path(out / "controls.json", plan.folder / "controls.json", plan.where)
    source = plan.config.source
    where = f"{plan.where}: source."
    imported = gather(
        source.format,
        source.paths,
        jobs=jobs,
        progress=show_progress(),
        agents_by=source.agents_by or LOG,
        limits=plan.limits,
        renames=plan.renames,
    )
    if files_sha256((file.name, file.sha256) for file in imported.files) != plan.files_sha256:
        raise BadInput(f"{plan.where}: the logs changed while the workflow ran; cure: start again")
    study = make_study(imported, choice_of(plan), where)
    caps = [cap for cap in study.caps if cap > 0]
    if study.axis is not None and not caps:
        raise BadInput(f"{where}caps: hold 0 alone; cure: a cap above 0")
    experiment = {"name": plan.name, "digest": plan.digest}
    common = source.tasks == "common"
    controls = controls_document(imported, study, caps, experiment, plan.material, common)
    write_tables(out, imported, study, caps, controls)
    print("\n".join(notices.lines(study.notices)), file=sys.stderr)


def write_tables(
    out: Path, imported: Imported, study: Study, caps: list[Cap], controls: Mapping[str, Any]
) -> None:
    """Write the files of an experiment below `out`, controls.json last."""
    rows = sorted(cells.cell_rows(study, caps), key=sort_key)
    write_table(out / "cells.parquet", rows, CELLS, {CONTROLS_KEY: controls})
    measured = sorted(cells.measured_rows(study, caps), key=sort_key)
    metadata = {CONTROLS_KEY: controls, RESPONSES_KEY: NO_RESPONSES}
    write_table(out / "measured.parquet", measured, MEASURED, metadata)
    counts = list(cells.count_rows(study, imported.limits))
    write_table(out / "counts.parquet", counts, cells.COUNTS, {CONTROLS_KEY: controls})
    write_json(out / "refusals.json", {"refusals": _refusals(study.refusals)})
    write_json(out / "controls.json", controls)


def _refusals(held: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [dict(zip(("control", "message", "cure"), refusal, strict=True)) for refusal in held]


def choice_of(plan: ImportPlan) -> Choice:
    """Return what a config chooses to compare."""
    source = plan.config.source
    return Choice(
        axis=source.axis,
        caps=plan.caps,
        agents=source.agents,
        tasks=source.tasks,
        repeats=source.repeats,
    )
