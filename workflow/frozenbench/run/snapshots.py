"""Snapshots: the work tree as a difference against the fixture, and proposals laid over a tree."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from frozenbench.adapters.contract import AgentCrashed
from frozenbench.canonical import BadInput, File, is_cache, tree_digest
from frozenbench.seal import AGAIN

MAX_FILES = 2000
MAX_BYTES = 32 * 1024 * 1024
MAX_PATH = 240

Tree = Mapping[str, File]


class TooLarge(Exception):
    """The tree passed the size or count that an artifact may have."""


def apply_files(tree: Tree, files: Mapping[str, str | bytes | None]) -> dict[str, File]:
    """Return the tree with a proposal's files laid over it.

    Raises:
        AgentCrashed: a path leaves the work folder, or a value is of no allowed form.
        TooLarge: the tree would pass the artifact's limits.
    """
    if not isinstance(files, Mapping):
        raise AgentCrashed(f"proposal: files is {type(files).__name__}; a mapping was due")
    new = dict(tree)
    for given, content in files.items():
        path = checked_path(given)
        if is_cache(path):
            continue
        if content is None:
            new.pop(path, None)
            continue
        new[path] = File(_bytes(path, content), path in tree and tree[path].executable)
    _check_shape(new)
    return new


def _bytes(path: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if not isinstance(content, str):
        raise AgentCrashed(f"proposal: files[{path!r}] is {type(content).__name__}; text was due")
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise AgentCrashed(f"proposal: files[{path!r}] holds half a surrogate pair") from None


def checked_path(path: Any) -> str:
    """Return a proposal's path, normalised.

    Raises:
        AgentCrashed: it is no text, absolute, leaves the folder or cannot be a file's name.
    """
    if not isinstance(path, str):
        raise AgentCrashed(f"proposal: a path is {type(path).__name__}; text was due")
    pure = PurePosixPath(path)
    unusable = "\0" in path or not pure.parts or len(path.encode("utf-8", "replace")) > MAX_PATH
    if pure.is_absolute() or ".." in pure.parts or unusable:
        raise AgentCrashed(f"proposal: {path[:80]!r} reaches outside the work folder")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise AgentCrashed(f"proposal: {path[:80]!a} is no file name") from None
    return pure.as_posix()


def _check_shape(tree: Tree) -> None:
    if len(tree) > MAX_FILES or sum(len(file.data) for file in tree.values()) > MAX_BYTES:
        raise TooLarge(f"more than {MAX_FILES} files or {MAX_BYTES} bytes")
    for path in tree:
        for parent in PurePosixPath(path).parents:
            if parent.as_posix() in tree:
                raise AgentCrashed(f"proposal: {parent} would be a file and a folder")


def difference(fixture: Tree, tree: Tree) -> dict[str, Any]:
    """Return a snapshot: what `tree` adds, changes and deletes against `fixture`, as JSON."""
    changed = {path: file for path, file in tree.items() if fixture.get(path) != file}
    return {
        "tree_sha256": tree_digest(tree),
        "changed": {path: _encoded(file) for path, file in sorted(changed.items())},
        "deleted": sorted(set(fixture) - set(tree)),
    }


def _encoded(file: File) -> dict[str, Any]:
    try:
        return {"text": file.data.decode("utf-8"), "executable": file.executable}
    except UnicodeDecodeError:
        coded = base64.b64encode(file.data).decode("ascii")
        return {"base64": coded, "executable": file.executable}


def restore(fixture: Tree, snapshot: Mapping[str, Any], where: str) -> dict[str, File]:
    """Return the tree of a snapshot.

    Raises:
        BadInput: the snapshot is not whole: its digest differs.
    """
    tree = {path: file for path, file in fixture.items() if path not in snapshot["deleted"]}
    for path, item in snapshot["changed"].items():
        data = item["text"].encode() if "text" in item else base64.b64decode(item["base64"])
        tree[path] = File(data, item["executable"])
    if tree_digest(tree) != snapshot["tree_sha256"]:
        raise BadInput(f"{where}: the snapshot was changed: its digest differs; cure: {AGAIN}")
    return tree
