"""freeze_controls: write the controls of an experiment, from which every cell reads its own."""

from __future__ import annotations

from pathlib import Path

from frozenbench.canonical import BadInput, write_json
from frozenbench.plan import Plan
from frozenbench.sandbox import require


def freeze_controls(plan: Plan, out: Path) -> None:
    """Write controls.json; the first job of every experiment, so it also asks for the sandbox.

    Raises:
        BadInput: the config no longer has the digest in the path of `out`.
        Refused: this machine gives less isolation than the config asks for.
    """
    check_path(out, plan.folder / "controls.json", plan.where)
    require(plan.config.isolation)
    write_json(out, plan.controls)


def check_path(out: Path, planned: Path, where: str) -> None:
    """Raise BadInput where the config changed since the workflow was parsed."""
    if out != planned:
        raise BadInput(f"{where}: changed while the workflow ran; cure: start again")
