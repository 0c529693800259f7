"""The tree that is graded: the artifact, with the hidden files laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from frozenbench.canonical import File

Tree = Mapping[str, File]


def lay_over(
    artifact: Tree, fixture: Tree, hidden: Tree, folders: Iterable[str]
) -> dict[str, File]:
    """Return the graded tree.

    A hidden folder replaces the whole folder. A file where a hidden one needs a folder gives way,
    and so does a folder where a hidden file goes. A conftest.py is part of the test harness: the
    agent's own is left out, a fixture's stands as it was, deleted or not.
    """
    whole = tuple(f"{folder}/" for folder in folders)
    parents = _parents(hidden)
    harness = {path: file for path, file in fixture.items() if _is_conftest(path)}
    own = {path: file for path, file in artifact.items() if not _is_conftest(path)}
    own = {path: file for path, file in own.items() if path not in _parents(harness)}
    tree = {
        path: file
        for path, file in {**own, **harness}.items()
        if not (path.startswith(whole) or path in parents or _below(path, hidden))
    }
    return {**tree, **hidden}


def _is_conftest(path: str) -> bool:
    return PurePosixPath(path).name == "conftest.py"


def _parents(tree: Tree) -> set[str]:
    return {parent.as_posix() for path in tree for parent in PurePosixPath(path).parents}


def _below(path: str, hidden: Tree) -> bool:
    return any(parent.as_posix() in hidden for parent in PurePosixPath(path).parents)
