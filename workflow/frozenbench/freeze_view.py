"""freeze_view: write the settings of a view: what changes pictures and no cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frozenbench.canonical import read_json, write_json
from frozenbench.freeze_controls import check_path
from frozenbench.import_plan import ImportPlan
from frozenbench.plan import Plan

#: The cap that an axis stands for where no use is told: the runs are as they were run.
_NO_AXIS = "max_seconds"


def freeze_view(plan: Plan | ImportPlan, out: Path) -> None:
    """Write view.json; that of an import takes its agents and budgets from the controls.

    Raises:
        BadInput: the config no longer has the view digest in the path of `out`.
    """
    check_path(out, plan.view_folder / "view.json", plan.where)
    write_json(out, plan.view if isinstance(plan, Plan) else _of_import(plan))


def _of_import(plan: ImportPlan) -> dict[str, Any]:
    controls = read_json(plan.folder / "controls.json")
    caps = list(next(iter(controls["budgets"].values())))
    return {
        **plan.view,
        "digest": plan.view_digest,
        "budget_axis": caps[0] if caps else _NO_AXIS,
        "agents": controls["source"]["agents"],
        "budgets": controls["source"]["budgets"],
        "pack": {
            "name": ", ".join(controls["source"]["formats"]),
            "status": "imported",
            "licence": "see where the logs come from",
            "source": None,
            "file_sha256": plan.files_sha256,
        },
    }
