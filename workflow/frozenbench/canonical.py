"""Canonical JSON, SHA-256 identities, file trees and atomic writes: the ground everything stands on."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

#: Names that tools drop into a work tree and that no agent means as its answer. Part of
#: RUN_SEMANTICS: a change here changes edit rounds and artifacts.
CACHE_NAMES = frozenset(
    {
        ".git",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".cache",
        ".tox",
        ".nox",
        ".venv",
        "node_modules",
    }
)
CACHE_SUFFIXES = (".pyc", ".pyo")


class FrozenbenchError(Exception):
    """An error with a message for people and an exit status for programs."""

    exit_status = 1


class Failed(FrozenbenchError):
    """Something differs or did not work (exit status 1)."""


class BadInput(FrozenbenchError):
    """A config, pack, agent file or argument is wrong (exit status 2)."""

    exit_status = 2


class Refused(FrozenbenchError):
    """What was asked for would break the protocol (exit status 3)."""

    exit_status = 3


class Incomplete(FrozenbenchError):
    """Something that a check needs is not there (exit status 5)."""

    exit_status = 5


def canonical_json(value: Any) -> bytes:
    """Return the one encoding of `value`: sorted keys, UTF-8, no white space, no NaN.

    Raises:
        BadInput: a float is not finite, or a value is not JSON.
    """
    try:
        text = json.dumps(
            value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
        return text.encode("utf-8")
    except (ValueError, TypeError, UnicodeEncodeError) as error:
        raise BadInput(f"cannot be written as canonical JSON: {error}") from error


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `value`."""
    return sha256_bytes(canonical_json(value))


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@dataclass(frozen=True)
class File:
    """One regular file of a tree: its bytes and whether its owner may execute it."""

    data: bytes
    executable: bool = False


#: A tree: relative POSIX path -> file. Folders exist only through their files.
Tree = Mapping[str, File]


@dataclass(frozen=True, order=True)
class Entry:
    """One line of a tree's identity."""

    path: str
    executable: bool
    sha256: str


def is_cache(path: str) -> bool:
    """Tell whether a relative POSIX path lies in a cache that never counts as a change."""
    return path.endswith(CACHE_SUFFIXES) or any(
        part in CACHE_NAMES for part in PurePosixPath(path).parts
    )


def entries(tree: Tree) -> list[Entry]:
    """Return the sorted identity lines of a tree."""
    return sorted(
        Entry(path, file.executable, sha256_bytes(file.data)) for path, file in tree.items()
    )


def tree_digest(tree: Tree | Iterable[Entry]) -> str:
    """Return the SHA-256 identity of a tree: sorted `(path, x-bit, sha256)`."""
    lines = entries(tree) if isinstance(tree, Mapping) else sorted(tree)
    return digest([[line.path, line.executable, line.sha256] for line in lines])


def read_tree(folder: Path) -> dict[str, File]:
    """Read all regular files below `folder`, by lstat, following no link.

    Raises:
        BadInput: something in it is neither a folder nor a regular file.
    """
    tree: dict[str, File] = {}
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*names, *folders]):
            path = Path(root, name)
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                continue
            relative = path.relative_to(folder).as_posix()
            try:
                relative.encode("utf-8")
            except UnicodeEncodeError:
                raise BadInput(
                    f"{folder.name}/{relative!a}: the file's name is not UTF-8; cure: rename it"
                ) from None
            if not stat.S_ISREG(status.st_mode):
                kind = "a link" if stat.S_ISLNK(status.st_mode) else "no regular file"
                raise BadInput(
                    f"{folder.name}/{relative}: is {kind}, and only regular files can be frozen; cure: "
                    "replace or remove it"
                )
            tree[relative] = File(path.read_bytes(), bool(status.st_mode & stat.S_IXUSR))
    return tree


def write_tree(tree: Tree, folder: Path) -> None:
    """Write a tree below `folder` (made if absent), with modes 0644 and 0755."""
    folder.mkdir(parents=True, exist_ok=True)
    for relative, file in tree.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(0o755 if file.executable else 0o644)


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or none, even if the writer is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """Write `value` as canonical JSON with a final newline, atomically."""
    write_atomic(path, canonical_json(value) + b"\n")


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        BadInput: the file is absent, cannot be read or is not JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadInput(f"{path}: is not there; cure: the workflow makes it") from None
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read ({error.strerror}); cure: make it readable"
        ) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: is not JSON ({error}); cure: remove or correct it") from None
