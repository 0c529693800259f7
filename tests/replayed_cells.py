"""A cell run again from its record alone: in another folder, with its endpoint gone."""

from __future__ import annotations

import pytest
from cell_project import Cell, CellProject
from frozenbench import layout
from frozenbench.gateway.published_record import export_record, unpack_record
from frozenbench.gateway.record import Store

#: Where nobody listens.
GONE = "http://127.0.0.1:1"


def another(cells: CellProject, monkeypatch: pytest.MonkeyPatch, first: Cell) -> CellProject:
    """Return a project in another folder whose store holds a cell's record, and nothing else."""
    record = cells.root / "record.jsonl.gz"
    keys = first.run["responses"]["keys"]
    export_record(Store(layout.RESPONSES), keys, [first.run["run_key"]], record)
    folder = cells.root / "another"
    folder.mkdir()
    monkeypatch.chdir(folder)
    other = CellProject(folder, cells.environment, cells.names)
    other.config = dict(cells.config)
    other.task()
    unpack_record(record, Store(layout.RESPONSES))
    return other


def same(one: Cell, two: Cell) -> None:
    """Assert that two runs ended alike and used the same."""
    for name in ("ending", "hits", "artifact_sha256", "meters", "steps", "responses"):
        assert one.run[name] == two.run[name], name
