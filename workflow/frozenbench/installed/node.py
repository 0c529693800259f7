"""A package of Node: its folder, those that it depends on, and the interpreter of its script."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput
from frozenbench.installed.binary import libraries
from frozenbench.installed.layout import INTERPRETER, PROGRAM, Found, in_system

MODULES = "node_modules"


def package_of(path: Path) -> Path | None:
    """Return the folder of the package that a file belongs to, or None."""
    for folder in path.parents:
        if _described(folder).get("name") and _described(folder).get("version"):
            return folder
        if folder.name == MODULES:
            return None
    return None


def found(name: str, real: Path, package: Path, *, is_script: bool) -> Found:
    """Describe a program of a package: a script for Node, or a binary.

    Raises:
        BadInput: its script needs a Node that is not installed.
    """
    described = _described(package)
    top = _top(package)
    packages = dict(_closure(package, top))
    shown = {} if in_system(package) else packages
    inside = _inside(real, package, top)
    mounts = [(folder, f"{PROGRAM}/{at}") for at, folder in sorted(shown.items())]
    words: tuple[str, ...] = (inside,)
    search: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    if is_script:
        node = _node(name)
        interpreter, more = _interpreter(node)
        mounts += more
        words, outside = (interpreter, inside), (str(node), str(real))
        search = (interpreter.rpartition("/")[0],)
    elif not in_system(real):
        mounts += [item for item in libraries(real) if not _below(item[0], packages.values())]
    return Found(
        name=str(described["name"]),
        version=str(described["version"]),
        trees={at.removeprefix(f"{MODULES}/"): folder for at, folder in packages.items()},
        mounts=tuple(mounts),
        inside=words,
        search=search,
        outside=outside,
    )


def _described(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _top(package: Path) -> Path:
    """Return the folder that holds the outermost node_modules, or the package itself."""
    parts = package.parts
    if MODULES not in parts:
        return package
    return Path(*parts[: parts.index(MODULES)])


def _place(folder: Path, top: Path) -> str:
    return folder.relative_to(top).as_posix() if folder != top else "package"


def _inside(real: Path, package: Path, top: Path) -> str:
    if in_system(real):
        return str(real)
    return f"{PROGRAM}/{_place(package, top)}/{real.relative_to(package).as_posix()}"


def _closure(package: Path, top: Path) -> Iterator[tuple[str, Path]]:
    """Yield (place, folder) of a package and of all that it depends on and that is installed.

    What lies in a package's own node_modules comes with its folder.
    """
    seen: dict[str, Path] = {}
    waiting = [package]
    while waiting:
        folder = waiting.pop()
        place = _place(folder, top)
        if place in seen:
            continue
        seen[place] = folder
        described = _described(folder)
        for kind in ("dependencies", "optionalDependencies", "peerDependencies"):
            for name in described.get(kind) or {}:
                other = _resolve(str(name), folder, top)
                if other is not None:
                    waiting.append(other)
    for place, folder in seen.items():
        if not any(place.startswith(f"{outer}/") for outer in seen if outer != place):
            yield place, folder


def _resolve(name: str, start: Path, top: Path) -> Path | None:
    """Return the folder of a dependency as Node finds it: the nearest node_modules upward."""
    for folder in (start, *start.parents):
        found = folder / MODULES / name
        if (found / "package.json").is_file():
            return found
        if folder == top:
            return None
    return None


def _node(name: str) -> Path:
    node = shutil.which("node")
    if node is None:
        raise BadInput(f"program: {name}: needs Node, which is not on the PATH; cure: install Node")
    return Path(node).resolve()


def _interpreter(node: Path) -> tuple[str, list[tuple[Path, str]]]:
    """Return where Node stands inside, and what must be seen for it."""
    if in_system(node):
        return str(node), []
    inside = f"{INTERPRETER}/bin/node"
    return inside, [(node, inside), *libraries(node)]


def _below(path: Path, folders: Any) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
