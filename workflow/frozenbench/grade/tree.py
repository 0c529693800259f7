"""The tree that is graded: the artifact, with the hidden files laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from frozenbench.canonical import File

Tree = Mapping[str, File]


def lay_over(
    artifact: Tree,
    fixture: Tree,
    hidden: Tree,
    folders: Iterable[str],
    solution: Tree | None = None,
) -> dict[str, File]:
    """Return the graded tree.

    A hidden folder replaces the whole folder. A file where a hidden one needs a folder gives way,
    and so does a folder where a hidden file goes. A conftest.py is part of the test harness: the
    agent's own is left out, a fixture's stands as it was, deleted or not. What the agent put
    beside hidden files where their imports would find it is left out too; the reference solution
    shows where honest files lie.
    """
    whole = tuple(f"{folder}/" for folder in folders)
    parents = _parents(hidden)
    harness = {path: file for path, file in fixture.items() if _is_conftest(path)}
    own = {path: file for path, file in artifact.items() if not _is_conftest(path)}
    own = {path: file for path, file in own.items() if path not in _parents(harness)}
    own = _without_shadows(own, {**fixture, **(solution or {})}, hidden)
    tree = {
        path: file
        for path, file in {**own, **harness}.items()
        if not (path.startswith(whole) or path in parents or _below(path, hidden))
    }
    return {**tree, **hidden}


def _without_shadows(own: Tree, honest: Tree, hidden: Tree) -> dict[str, File]:
    """Leave out what the agent put beside hidden files where an import would find it first.

    A folder of hidden files in which neither fixture nor solution has a file is the grader's alone.
    In one that both share, a new file may not have the module name of a hidden neighbour, such as
    support.py beside support/.
    """
    alone = {PurePosixPath(path).parent.as_posix() for path in hidden} - {"."} - _parents(honest)
    names = _names_by_folder(hidden)
    known = _names_by_folder(honest)

    def shadows(path: str) -> bool:
        pure = PurePosixPath(path)
        for folder in map(PurePosixPath.as_posix, pure.parents):
            name = pure.relative_to(folder).parts[0]
            beside = names.get(folder, frozenset())
            stems = {PurePosixPath(item).stem for item in beside - {name}}
            new = name not in known.get(folder, frozenset())
            if folder in alone or (
                new and name not in beside and PurePosixPath(name).stem in stems
            ):
                return True
        return False

    return {path: file for path, file in own.items() if path in honest or not shadows(path)}


def _names_by_folder(tree: Tree) -> dict[str, frozenset[str]]:
    """Return folder -> names of the files and folders in it."""
    found: dict[str, set[str]] = {}
    for path in map(PurePosixPath, tree):
        for folder in path.parents:
            found.setdefault(folder.as_posix(), set()).add(path.relative_to(folder).parts[0])
    return {folder: frozenset(names) for folder, names in found.items()}


def _is_conftest(path: str) -> bool:
    return PurePosixPath(path).name == "conftest.py"


def _parents(tree: Tree) -> set[str]:
    return {parent.as_posix() for path in tree for parent in PurePosixPath(path).parents}


def _below(path: str, hidden: Tree) -> bool:
    return any(parent.as_posix() in hidden for parent in PurePosixPath(path).parents)
