"""freeze_view: write the settings of a view: what changes pictures and no cell."""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import write_json
from frozenbench.freeze_controls import check_path
from frozenbench.plan import Plan


def freeze_view(plan: Plan, out: Path) -> None:
    """Write view.json.

    Raises:
        BadInput: the config no longer has the view digest in the path of `out`.
    """
    check_path(out, plan.view_folder / "view.json", plan.where)
    write_json(out, plan.view)
