"""The write-up of an import, from rows of a CSV by the real functions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from frozenbench.contrast import contrast
from frozenbench.freeze_view import freeze_view
from frozenbench.import_logs import import_logs
from frozenbench.import_plan import load_import_plan
from frozenbench.write_tables import write_tables


def write_up_of_logs(root: Path, rows: Iterable[Sequence[Any]], **config: Any) -> Path:
    """Import rows, the first of them the head, on the axis of calls; return the write-up's folder."""
    (root / "logs").mkdir()
    with (root / "logs" / "runs.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    whole = {
        "experiment": {"name": "made_up"},
        "source": {"format": "auto", "paths": ["logs"], "axis": "calls"},
        "statistics": {"resamples": 200},
        **config,
    }
    (root / "import.yaml").write_text(yaml.safe_dump(whole), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        plan = load_import_plan("import.yaml")
        folder, view = plan.folder, plan.view_folder
        import_logs(plan, folder, jobs=1)
        freeze_view(plan, view / "view.json")
        files = {name: folder / f"{name}.parquet" for name in ("cells", "measured")}
        sheets = {"controls": folder / "controls.json", "view": view / "view.json"}
        statistics = view / "statistics"
        contrast(**files, **sheets, refusals=folder / "refusals.json", out=statistics)
        write_tables(statistics, **sheets, **files, out=root / "out")
    return root / "out"
