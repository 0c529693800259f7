"""Cells of a tiny agent program behind the gateway, in a real box, against a real endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cell_project import Cell, CellProject
from wire_endpoint import MODEL

TINY = (Path(__file__).parent / "tiny_agent.py").read_text()


def program(
    cells: CellProject, wire: str, root: str, *options: str, key_env: str | None = None, **more: Any
) -> None:
    """Add the tiny agent as a program."""
    endpoint = {"id": "scripted", "wire": wire, "model": MODEL, "base_url": root}
    if key_env is not None:
        endpoint["key_env"] = key_env
    cells.agent(
        TINY,
        adapter="program",
        argv=["python", "agents/agent.py", wire, "{base_url}", *filter(None, options)],
        endpoint={**endpoint, **more.pop("endpoint", {})},
        **more,
    )


def events(cell: Cell, name: str) -> list[dict[str, Any]]:
    return [event for event in cell.trace if event["event"] == name]


def used(cell: Cell, *names: str) -> tuple[int | None, ...]:
    return tuple(cell.run["meters"][name] for name in names)
