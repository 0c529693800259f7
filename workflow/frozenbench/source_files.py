"""The files that an import reads: found, named and hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from frozenbench.canonical import BadInput, digest

#: Folders that never hold logs.
_NO_LOGS = {".git", ".snakemake", "__pycache__", "node_modules"}


def find_files(paths: Sequence[str | Path], root: Path = Path()) -> list[tuple[Path, str]]:
    """Return (path, name) of every file, those of a folder in the order of their names.

    A name is relative to the project where the file lies in it, and never holds a place outside.

    Raises:
        BadInput: a path is not there, or nothing is named.
    """
    found: dict[Path, str] = {}
    for given in map(Path, paths):
        path = root / given
        near = not given.is_absolute() and ".." not in given.parts
        shown = given.as_posix() if near else given.name
        if path.is_dir():
            for file in sorted(item for item in path.rglob("*") if item.is_file()):
                below = file.relative_to(path)
                if not _NO_LOGS & set(below.parts):
                    found.setdefault(file, _text(f"{shown}/{below.as_posix()}"))
        elif path.is_file():
            found.setdefault(path, _text(shown))
        else:
            raise BadInput(f"{given}: is not there; cure: a log file, or a folder of them")
    if not found:
        raise BadInput("paths: name no file; cure: a log file, or a folder of them")
    return list(found.items())


def _text(name: str) -> str:
    """Return a name as text: a file system may hold bytes that are none."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def identity(path: Path) -> tuple[str, int]:
    """Return the SHA-256 and the size of a file as it lies there.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    return found, path.stat().st_size


def files_sha256(named: Iterable[tuple[str, str]]) -> str:
    """Return one digest over (name, SHA-256) of all files: agents are told by folders too."""
    return digest([list(pair) for pair in sorted(named)])
