"""Read log files as a test looks at them."""

from __future__ import annotations

from pathlib import Path

from frozenbench.importers.gather import Imported, gather
from frozenbench.importers.model import Row


def read(path: Path, form: str = "auto") -> Imported:
    return gather(form, [path], jobs=1)


def by_task(imported: Imported) -> dict[str, Row]:
    assert len({row.task for row in imported.rows}) == len(imported.rows)
    return {row.task: row for row in imported.rows}


def named(imported: Imported, kind: str) -> tuple[str, ...]:
    return next((notice.subjects for notice in imported.notices if notice.kind == kind), ())
