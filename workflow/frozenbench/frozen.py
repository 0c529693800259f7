"""Read frozen tasks back from their content-addressed places, and check them against these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, File, digest, read_json, read_tree, tree_digest


def tree_at(folder: Path) -> dict[str, File]:
    """Return the tree at a folder; an absent folder is an empty tree."""
    return read_tree(folder) if folder.is_dir() else {}


def read_frozen_task(folder: Path, task_digest: str) -> tuple[dict[str, Any], Mapping[str, File]]:
    """Return a frozen task's material and fixture.

    Raises:
        BadInput: they do not have the digest that they stand for.
    """
    task = read_json(folder / "task.json")
    fixture = tree_at(folder / "fixture")
    if digest({**task, "fixture": tree_digest(fixture)}) != task_digest:
        raise BadInput(
            f"{folder}: was changed after it was frozen; cure: remove the folder, it is frozen again"
        )
    return task, fixture
