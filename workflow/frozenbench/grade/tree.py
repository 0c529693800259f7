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
    agent's own is left out, a fixture's stands as it was.
    """
    whole = tuple(f"{folder}/" for folder in folders)
    parents = {parent.as_posix() for path in hidden for parent in PurePosixPath(path).parents}
    tree: dict[str, File] = {}
    for path, file in artifact.items():
        if path.startswith(whole) or path in parents or _below(path, hidden):
            continue
        if PurePosixPath(path).name == "conftest.py":
            if path not in fixture:
                continue
            file = fixture[path]
        tree[path] = file
    return {**tree, **hidden}


def _below(path: str, hidden: Tree) -> bool:
    return any(parent.as_posix() in hidden for parent in PurePosixPath(path).parents)
