"""Where modules lie in a tree, and by which dotted names they are known."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

#: Folders that count as the start of absolute imports.
ROOTS = ("", "src")
_COMPILED = {".so", ".pyd", ".pyc"}


class Places:
    """The modules, packages and folders of a tree, by folder (`""` is the root) and name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.modules: set[tuple[str, str]] = set()  #: module files and packages with `__init__`
        self.folders: set[tuple[str, str]] = set()  #: every folder: a namespace package
        for text in paths:
            path = PurePosixPath(text)
            for part in path.parents:
                if part.name:
                    self.folders.add((_folder(part), part.name))
            if path.suffix == ".py" or path.suffix in _COMPILED:
                stem = path.name.partition(".")[0]
                owner = path.parent if stem == "__init__" else path
                self.modules.add((_folder(owner), owner.name.partition(".")[0]))

    def has_module(self, folder: str, name: str) -> bool:
        """Tell whether `name` is a module file or a regular package in `folder`."""
        return (folder, name) in self.modules

    def has(self, folder: str, name: str) -> bool:
        """Tell whether `import name` finds anything in `folder`, a bare folder included."""
        return (folder, name) in self.modules or (folder, name) in self.folders

    def holds_anywhere(self, name: str) -> bool:
        """Tell whether any folder of the tree holds a module or folder `name`."""
        return any(name == known for _, known in self.modules | self.folders)


def folder_of(path: str) -> str:
    """Return the folder of a file, `""` at the root."""
    return _folder(PurePosixPath(path))


def _folder(path: PurePosixPath) -> str:
    parent = path.parent.as_posix()
    return "" if parent == "." else parent


def join(folder: str, name: str) -> str:
    """Return `folder/name`, or `name` at the root."""
    return f"{folder}/{name}" if folder else name


def dotted_folder(folder: str) -> str:
    """Return the dotted name of a folder as seen from the root, or from `src/` if it is there."""
    return folder.removeprefix("src/").replace("/", ".") if folder not in ROOTS else ""


def module_names(path: str) -> tuple[str, ...]:
    """Return the dotted names of a file of the tree; none for a file that cannot be imported.

    A module at the root has a second name with a dot before it: what a relative import means.
    That keeps `from . import requests` apart from the `requests` of the environment.
    """
    pure = PurePosixPath(path)
    if pure.suffix != ".py":
        return ()
    whole = pure.parent if pure.stem == "__init__" else pure.with_suffix("")
    name = dotted_folder(whole.as_posix())
    if not name or whole.as_posix() == ".":
        return ()
    names = [name] if "." in name else [name, f".{name}"]
    if whole.parts[0] == "src":
        names.append(whole.as_posix().replace("/", "."))
    return tuple(names)


def relative_folder(path: str, level: int) -> str | None:
    """Return the folder that a relative import of `level` dots starts from; None above the root."""
    parts = PurePosixPath(folder_of(path)).parts
    up = level - 1
    return None if up > len(parts) else "/".join(parts[: len(parts) - up])


def relative_name(path: str, level: int, module: str) -> str | None:
    """Return the dotted name of `from <level dots><module> import …`; None above the root."""
    folder = relative_folder(path, level)
    return None if folder is None else f"{dotted_folder(folder)}.{module}".rstrip(".") or "."


def member(module: str, name: str) -> str:
    """Return the dotted name of `name` in `module`, where `.` is the root's own package."""
    return f".{name}" if module == "." else f"{module}.{name}"


def absolute_names(name: str, path: str, tree: Places, fixture: Places) -> tuple[str, ...]:
    """Return what `import name` in the file `path` can mean, as dotted names from the root.

    A file beside the importing one is found before the environment when the file is run as a
    script. One that the fixture brings is what the import means; one that the agent added leaves
    the outer meaning open, for else an empty file would lift a ban.
    """
    top = name.partition(".")[0]
    folder = folder_of(path)
    itself = PurePosixPath(path).stem == top
    if folder in ROOTS or itself or not tree.has_module(folder, top):
        return (name,)
    sibling = f"{dotted_folder(folder)}.{name}"
    if fixture.has_module(folder, top) and not any(tree.has_module(root, top) for root in ROOTS):
        return (sibling,)
    return (name, sibling)
