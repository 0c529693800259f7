"""Seals: a document of the store tells the digest of its own content and of the files beside it.

A key says what went into a result and nothing of the result itself. A seal finds what was edited or
damaged afterwards; it keeps out nobody who wants to forge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, digest, read_json, sha256_file

SEAL = "seal"
#: What mends a run or a grade that is not as it was written.
AGAIN = "remove the folder and run again"
#: Earlier attempts at a run lie in its folder and are none of its files.
ATTEMPTS = "attempts"


def sealed(
    document: Mapping[str, Any], folder: Path | None = None, own: str = ""
) -> dict[str, Any]:
    """Return the document with its seal, over all files below `folder` but the document's `own`."""
    files = {} if folder is None else _digests(folder, own)
    return {**document, SEAL: {"content": digest(document), "files": files}}


def broken_seal(
    document: Mapping[str, Any], folder: Path | None = None, own: str = ""
) -> str | None:
    """Return what is not as it was sealed, or None; without `folder`, of the document alone."""
    seal = document.get(SEAL)
    if not isinstance(seal, Mapping) or not isinstance(seal.get("files"), Mapping):
        return "holds no seal"
    if seal.get("content") != digest({k: v for k, v in document.items() if k != SEAL}):
        return "was changed after it was written"
    if folder is None:
        return None
    found = _digests(folder, own)
    differing = {name for name, _ in set(found.items()) ^ set(seal["files"].items())}
    return f"{min(differing)} was changed after it was written" if differing else None


def read_sealed(path: Path, cure: str) -> dict[str, Any]:
    """Read a sealed document; the files beside it are not looked at.

    Raises:
        BadInput: it is not as it was written.
    """
    document = read_json(path)
    problem = broken_seal(document) if isinstance(document, dict) else "is no sealed document"
    if problem is not None:
        raise BadInput(f"{path}: {problem}; cure: {cure}")
    found: dict[str, Any] = document
    return found


def _digests(folder: Path, own: str) -> dict[str, str]:
    return {name: sha256_file(folder / name) for name in _names(folder) if name != own}


def _names(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)  # unfinished, or Snakemake's
        if path.is_file() and not hidden and parts[0] != ATTEMPTS:
            yield "/".join(parts)
