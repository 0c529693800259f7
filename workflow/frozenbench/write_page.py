"""write_page: the results page and score_bundle.json, or the page that says why there is no score."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from frozenbench.canonical import canonical_json, read_json
from frozenbench.page import PageInputs, refused_page, results_page
from frozenbench.score_bundle import score_bundle
from frozenbench.table import RESPONSES_KEY, metadata_of, read_table


def write_page(
    statistics: Path, controls: Path, view: Path, measured: Path, cells: Path, out: Path
) -> None:
    """Write the folder `out`: README.md, and score_bundle.json unless the score is refused."""
    if (statistics / "refused.json").exists():
        refusals = read_json(statistics / "refused.json")["refusals"]
        text = refused_page(read_json(controls), read_json(view), refusals)
        _write(out, {"README.md": text.encode()})
        return
    measured_table = read_table(measured)
    inputs = PageInputs(
        controls=read_json(controls),
        view=read_json(view),
        responses=metadata_of(measured_table, RESPONSES_KEY),
        cells=read_table(cells).to_pylist(),
        measured=measured_table.to_pylist(),
        summary=_rows(statistics / "summary.parquet"),
        contrasts=_rows(statistics / "contrasts.parquet"),
        flips=_rows(statistics / "flips.parquet"),
        statistics=read_json(statistics / "statistics.json"),
    )
    bundle = score_bundle(
        inputs.controls, inputs.view, inputs.summary, inputs.cells, inputs.measured
    )
    _write(
        out,
        {
            "README.md": results_page(inputs).encode(),
            "score_bundle.json": canonical_json(bundle) + b"\n",
        },
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows


def _write(out: Path, files: dict[str, bytes]) -> None:
    """Write a folder whole: beside its place first, then renamed."""
    staged = out.with_name(f".{out.name}.staged")
    if staged.exists():
        shutil.rmtree(staged)
    staged.mkdir(parents=True)
    for name, data in files.items():
        (staged / name).write_bytes(data)
    if out.exists():
        shutil.rmtree(out)
    staged.rename(out)
