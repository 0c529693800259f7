"""Read frozen tasks and controls back, and check them against the digests that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, File, digest, read_json, read_tree, tree_digest
from frozenbench.controls import is_imported


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
    same = isinstance(task, dict) and (
        digest({**task, "fixture": tree_digest(fixture)}) == task_digest
    )
    if not same:
        raise BadInput(
            f"{folder}: was changed after it was frozen; cure: remove the folder, it is frozen again"
        )
    return task, fixture


def read_controls(path: Path) -> dict[str, Any]:
    """Read the controls of an experiment.

    Raises:
        BadInput: they do not give the experiment digest that stands in them.
    """
    controls = read_json(path)
    if (problem := controls_problem(controls)) is not None:
        raise BadInput(f"{path}: {problem}; cure: remove the file, the workflow writes it again")
    found: dict[str, Any] = controls
    return found


def controls_problem(controls: Any) -> str | None:
    """Return what is wrong with a controls document, or None; of an import its sources count."""
    try:
        content = {name: value for name, value in controls.items() if name != "experiment"}
        if is_imported(controls):
            content = controls["source"]["material"]
        same = digest(content) == controls["experiment"]["digest"]
        named = isinstance(controls["experiment"]["name"], str)
    except (AttributeError, KeyError, TypeError):
        return "is no document of controls"
    return None if same and named else "its experiment digest is not what its controls give"
