"""What readers see, made again from the tables and compared byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frozenbench import __version__, layout
from frozenbench.canonical import read_json, sha256_file
from frozenbench.contrast import contrast
from frozenbench.controls import VIEW_SEMANTICS
from frozenbench.publish import content
from frozenbench.write_page import write_page
from frozenbench.write_tables import write_tables


def view_problem(view_folder: Path) -> str | None:
    """Return what of a view's statistics, page and write-up is not what its tables give, or None.

    A view that another version wrote is passed over: its bytes may rightly differ. Figures are not
    drawn again: the page is compared with the view's own in it.
    """
    drawn_by = read_json(view_folder / "view.json")["drawn_by"]
    own = {"frozenbench": __version__, "view_semantics": VIEW_SEMANTICS}
    names = ("statistics", "page", "write_up")
    parts = [part for part in names if (view_folder / part).is_dir()]
    whole = {"statistics", "page"} <= set(parts)
    if any(drawn_by[name] != value for name, value in own.items()) or not whole:
        return None
    experiment = view_folder.parent.parent
    inputs: dict[str, Any] = {
        "cells": experiment / "cells.parquet",
        "measured": experiment / "measured.parquet",
        "controls": experiment / "controls.json",
        "view": view_folder / "view.json",
    }
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder)
        refusals = experiment / "refusals.json"
        contrast(**inputs, refusals=refusals, out=again / "statistics")
        page = view_folder / "page"
        figures = view_folder / "figures"
        write_page(
            **inputs,
            statistics=again / "statistics",
            out=again / "page",
            figures=figures if figures.is_dir() else None,
            earlier=page,
        )
        write_tables(**inputs, statistics=again / "statistics", out=again / "write_up")
        for part in parts:
            if differing := _differing(again / part, view_folder / part):
                return f"{part}/{differing[0]}: is not what the tables give"
    return None


def _differing(one: Path, other: Path) -> list[str]:
    found = {path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*")}
    return sorted(
        path.as_posix()
        for path in found
        if not any(part.startswith(".") for part in path.parts)
        and _digest(one / path) != _digest(other / path)
    )


def _digest(path: Path) -> str | None:
    return sha256_file(path) if path.is_file() else None


def published_problems() -> Iterator[str]:
    """Yield every published file that is not its experiment's."""
    for path in sorted(layout.RESULTS.glob("*/view.json")):
        folder = path.parent
        experiment = read_json(folder / "controls.json")["experiment"]
        view = read_json(path)["digest"]
        source = layout.experiment(experiment["name"], experiment["digest"])
        view_folder = layout.view(experiment["name"], experiment["digest"], view)
        if not (view_folder / "page").is_dir():
            yield f"{folder}: its view {view_folder} is gone"
            continue
        # Named is the folder: once it is removed it is published again, and no single file of it is.
        shown = content(source, view_folder)
        differing = [name for path, name in shown if _digest(path) != _digest(folder / name)]
        if differing:
            yield f"{folder}: {', '.join(differing)}: not the file of {source.name}"
