"""The files that an import reads: found, named and hashed."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path

from frozenbench.canonical import BadInput, digest

#: Folders that never hold logs.
_NO_LOGS = {".git", ".snakemake", "__pycache__", "node_modules"}


def find_files(paths: Sequence[str | Path], root: Path = Path()) -> list[tuple[Path, str]]:
    """Return (path, name) of every file, those of a folder in the order of their names.

    A name is relative to the project where the file lies in it, and never holds more of a place
    outside than tells two given paths apart. Links are followed, each folder once.

    Raises:
        BadInput: a path is not there or cannot be read, or no file is there.
    """
    if not paths:
        raise BadInput("paths: name no file; cure: a log file, or a folder of them")
    found: dict[Path, str] = {}
    seen: set[tuple[int, int]] = set()
    for given, shown in _shown([Path(path) for path in paths], root).items():
        path = root / given
        try:
            if path.is_dir():
                for file, name in _walk(path, shown, seen):
                    found.setdefault(file, _text(name))
            elif path.is_file():
                found.setdefault(path, _text(shown))
            else:
                state = "is no regular file" if path.exists() else "is not there"
                raise BadInput(
                    f"{_text(str(given))}: {state}; cure: a log file, or a folder of them"
                )
        except (OSError, ValueError) as error:
            told = getattr(error, "strerror", None) or error
            inner = getattr(error, "filename", None) or given
            raise BadInput(
                f"{_text(str(inner))[:300]!r}: cannot be read ({told}); cure: a path that can"
            ) from None
    if not found:
        names = ", ".join(_text(str(path)) for path in paths)
        raise BadInput(f"{names}: no file is in it; cure: a log file, or a folder of them")
    return list(found.items())


def _shown(paths: Sequence[Path], root: Path) -> dict[Path, str]:
    """Return given path -> how it is shown: one outside the project by its last names alone."""
    near = {path for path in paths if not path.is_absolute() and ".." not in path.parts}
    shown = {path: path.as_posix() for path in near}
    # Not `resolve`: a link keeps its name.
    far = {
        path: Path(os.path.abspath(root / path)).parts  # noqa: PTH100
        for path in paths
        if path not in near
    }
    for path, parts in far.items():
        others = [other for other in (*far.values(), *(p.parts for p in near)) if other != parts]
        length = 1
        while length < len(parts) and any(o[-length:] == parts[-length:] for o in others):
            length += 1
        shown[path] = "/".join(parts[-length:]).lstrip("/")
    return {path: shown[path] for path in paths}


def _walk(folder: Path, shown: str, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, str]]:
    """Yield the files below a folder that was not seen before, by their names."""
    status = folder.stat()
    if (status.st_dev, status.st_ino) in seen:
        return
    seen.add((status.st_dev, status.st_ino))
    for item in sorted(folder.iterdir()):
        name = f"{shown}/{item.name}"
        if item.is_dir():
            if item.name not in _NO_LOGS:
                yield from _walk(item, name, seen)
        else:  # what cannot be read, such as a pipe or a link to nothing, is named by its reader
            yield item, name


def _text(name: str) -> str:
    """Return a name as text: a file system may hold bytes that are none."""
    return printable(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def printable(text: str) -> str:
    """Return a text with escapes for what cannot be shown: line ends, control signs, half pairs."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def open_file(path: Path) -> BufferedReader:
    """Open a file to read it: a pipe, which nobody may ever write into, is never waited for.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("is no regular file")
    return path.open("rb")


def identity(path: Path) -> tuple[str, int]:
    """Return the SHA-256 and the size of a file as it lies there.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    with open_file(path) as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    return found, path.stat().st_size


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, empty where it cannot be read: its import names it."""
    try:
        return identity(path)[0]
    except OSError:
        return ""


def files_sha256(named: Iterable[tuple[str, str]]) -> str:
    """Return one digest over (name, SHA-256) of all files: agents are told by folders too."""
    return digest([list(pair) for pair in sorted(named)])
