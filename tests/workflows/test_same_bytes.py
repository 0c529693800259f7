"""The same table, byte for byte, whatever the number of jobs, the folder and the time."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project


@pytest.mark.parametrize("cores", [1, 4])
def test_the_number_of_cores_is_in_no_byte(
    base: Project, prepared: Project, tmp_path: Path, cores: int
) -> None:
    """A clean run in another folder, with another temporary folder; `base` ran on two cores."""
    project = prepared.copy(tmp_path / f"checkout {cores}")
    (tmp_path / "temporary").mkdir()
    project.succeeds(cores=cores, env={"TMPDIR": str(tmp_path / "temporary")})
    assert project.cells() == base.cells()
    for table in ("tables/contrasts.parquet", "tables/flips.parquet"):
        assert project.published()[table] == base.published()[table]
