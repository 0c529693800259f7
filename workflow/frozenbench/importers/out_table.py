"""Where an import writes: three tables that stand or fall together, and that nothing else is lost by."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from frozenbench.canonical import BadInput, canonical_json
from frozenbench.table import IMPORT_KEY, coded_at

_SUFFIX = ".parquet"
#: What IMPORT_KEY says of a table. Rates stand where cells would, and nothing beside them.
ROLES = CELLS, MEASURED, COUNTS, RATES = "cells", "measured", "counts", "rates"


def measured_beside(out: Path) -> Path:
    """Return the table of seconds and spend of the same rows."""
    return out.with_suffix(".measured.parquet")


def counts_beside(out: Path) -> Path:
    """Return the table of pass counts at all caps."""
    return out.with_suffix(".counts.parquet")


def check_out(out: Path, inputs: Iterable[Path]) -> None:
    """Check, before anything is read, that the tables can be written and replace nothing else.

    Raises:
        BadInput: `out` is a folder, is no Parquet by its name, is a file that the import reads or
            did not write, or lies where nothing can be written.
    """
    try:
        _check_out(out, inputs)
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise BadInput(f"--out: {str(out)!r}: {told}; cure: another name") from None


def _check_out(out: Path, read: Iterable[Path]) -> None:
    where = f"--out: {out}"
    if out.is_dir() or not out.name:
        raise BadInput(
            f"{where}: is a folder; cure: a file in it, such as {out / 'imported.parquet'}"
        )
    if out.suffix != _SUFFIX:
        cure = out.with_suffix(_SUFFIX)
        raise BadInput(f"{where}: the table is written as Parquet; cure: {cure}")
    for path, roles in _places(out).items():
        if not (path.exists() or path.is_symlink()):
            continue
        role = role_of(path)
        if role in roles:
            continue
        if path.resolve() in {one.resolve() for one in read}:
            raise BadInput(f"--out: {path}: is one of the logs; cure: another name")
        told = (
            "no import wrote it"
            if role is None
            else f"is the table of {role} of an import, not of {' or '.join(roles)}"
        )
        raise BadInput(f"--out: {path}: is there, and {told}; cure: another name, or remove it")
    _check_folder(out.absolute().parent, where)


def _places(out: Path) -> dict[Path, tuple[str, ...]]:
    """Return each file that an import writes or removes -> what may stand there before."""
    return {
        out: (CELLS, RATES),
        measured_beside(out): (MEASURED,),
        counts_beside(out): (COUNTS,),
    }


def role_of(path: Path) -> str | None:
    """Return which table of an import a file is, None where it is none, or of an older version."""
    coded = coded_at(path, IMPORT_KEY)
    return next((role for role in ROLES if canonical_json(role) == coded), None)


def remove_beside(out: Path) -> None:
    """Remove what an earlier import of runs left beside rates, which have nothing beside them.

    Raises:
        OSError: one cannot be removed.
    """
    for path, roles in _places(out).items():
        if path != out and role_of(path) in roles:
            path.unlink()


def _check_folder(folder: Path, where: str) -> None:
    """Check the nearest folder that is there: those below it are made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise BadInput(f"{where}: {folder.name} is a file and no folder; cure: another folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(f"{where}: nothing can be written into {folder}; cure: another folder")
