"""publish: show one experiment and view at results/<name>/, at paths that a write-up can include."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from frozenbench import layout
from frozenbench.canonical import BadInput, write_atomic


def publish(experiment: Path, view_folder: Path, out: Path, marker: Path) -> None:
    """Replace the content of `out` by the experiment's and write the marker last.

    Where a score is refused, the page and refused.json stand there, and no older score.

    Raises:
        BadInput: `out` is no folder of a published experiment: what stands there is not ours.
    """
    if out.parent != layout.RESULTS or out.name in layout.TAKEN_NAMES:
        raise BadInput(f"{out}: its content would be replaced; cure: {layout.RESULTS}/<name>")
    staged = out.with_name(f".{out.name}.staged")
    if staged.exists():
        shutil.rmtree(staged)
    for source, name in content(experiment, view_folder):
        target = staged / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    empty(out)
    for item in sorted(staged.iterdir()):
        item.rename(out / item.name)
    staged.rmdir()
    write_atomic(marker, b"")


def empty(out: Path) -> None:
    """Make a published folder where there is none, and remove what it shows."""
    out.mkdir(parents=True, exist_ok=True)
    for item in sorted(out.iterdir()):  # marks first: whoever is killed here leaves none behind
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        else:
            item.unlink()


def content(experiment: Path, view_folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield (file, its name below results/<name>/) of all that is published."""
    for name in ("controls.json", "cells.parquet", "measured.parquet", "refusals.json"):
        yield experiment / name, name
    yield view_folder / "view.json", "view.json"
    parts = {"page": "", "statistics": "tables/"}
    if (view_folder / "crossings").is_dir():  # of an import
        parts["crossings"] = "tables/"
    parts |= {"write_up": "", "write_up/tables": "tables/"}
    for part, prefix in parts.items():
        for path in _files(view_folder / part):
            if path.name != layout.LANDING:
                yield path, f"{prefix}{path.name}"
    for folder in sorted((view_folder / "figures").glob("*")):
        for path in _files(folder):
            if path.name != "refused.json":
                yield path, f"figures/{path.name}"


def _files(folder: Path) -> list[Path]:
    """Return a folder's files; Snakemake marks the folders that it keeps by a hidden one."""
    return sorted(
        path for path in folder.glob("*") if path.is_file() and not path.name.startswith(".")
    )
