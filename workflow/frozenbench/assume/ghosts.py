"""Ghosts: modules that the environment does not have, and names that nothing defines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from frozenbench.assume.environment import Environment
from frozenbench.assume.finding import Finding, Reason
from frozenbench.assume.graph import prefixes
from frozenbench.assume.guards import guarded
from frozenbench.assume.lines import one_line
from frozenbench.assume.places import ROOTS, Places, folder_of, join, relative_folder
from frozenbench.assume.scopes import bound_names, lay_out
from frozenbench.assume.sources import Source, agent_sources, python_sources
from frozenbench.canonical import Tree

#: Names with which code can make further names appear in a module.
_MAKERS = frozenset({"globals", "exec", "locals", "builtins", "__builtins__"})
_MODULE_MAKERS = _MAKERS | {"vars", "setattr", "modules", "__path__", "__getattr__"}
#: What a tree holds that changes where modules are looked for.
_PATH_MARKS = (b"sys.path", b"pythonpath", b"PYTHONPATH", b"package-dir", b"package_dir")

_Ghost = tuple[Reason, int, str]


def ghosts(fixture: Tree, artifact: Tree, hidden: Tree, provided: Environment) -> Finding | None:
    """Return the first ghost on the agent's lines: ghost imports before ghost names, by path.

    A module is none if the pack environment, the fixture, the artifact or the hidden files have
    it; a guarded import is none. Of a module whose names are known (the tree's own, and those in
    `provided.names`) an unknown name that is imported, or taken from the imported module, is a
    ghost; elsewhere a name is one if pyflakes finds it undefined.
    """
    sources = [source for source in agent_sources(fixture, artifact) if source.own]
    if not sources:
        return None
    world = _World((fixture, artifact, hidden), provided)
    found = [
        Finding(reason, source.path, line, one_line(what))
        for source in sources
        for reason, line, what in (
            *_ghost_imports(source, world),
            *_ghost_attributes(source, world),
            *_undefined(source, provided),
        )
    ]
    return min(found, key=lambda each: (each.reason, each.path, each.line, each.what), default=None)


class _World:
    """What the trees and the environment provide."""

    def __init__(self, trees: Sequence[Tree], environment: Environment) -> None:
        self.environment = environment
        self.places = Places(path for tree in trees for path in tree)
        self.moves_paths = any(
            mark in file.data for tree in trees for file in tree.values() for mark in _PATH_MARKS
        ) or any(path.endswith(".pth") for tree in trees for path in tree)
        self._names: dict[str, set[str] | None] = {}
        self.stored: set[str] = set()  #: attribute names that some file of the trees assigns to
        for tree in trees:
            sources = python_sources(tree)
            self._names.update(dict.fromkeys(tree.keys() - {source.path for source in sources}))
            for source in sources:
                self._learn(source)

    def _learn(self, source: Source) -> None:
        """Note the names of a module: of all its versions, and None if they are not all seen."""
        module = lay_out(source).module
        known = self._names.get(source.path, set())
        if known is None or module.has_star or _MODULE_MAKERS & _mentioned(source.syntax):
            self._names[source.path] = None
        else:
            bound = {key for key in module.slots if isinstance(key, str)}
            self._names[source.path] = known | bound
        for node in ast.walk(source.syntax):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self.stored.add(node.attr)

    def is_installed(self, top: str) -> bool:
        """Tell whether the pack environment has a top-level module."""
        return (
            top in self.environment.stdlib or top in self.environment.modules or top == "__main__"
        )

    def lacks(self, module: str, name: str) -> bool:
        """Tell whether a module of the environment is known not to have a name or submodule."""
        known = self.environment.names.get(module)
        return (
            known is not None
            and name not in known
            and not (name.startswith("__") and name.endswith("__"))
            and f"{module}.{name}" not in self.environment.names
        )

    def starts(self, path: str, top: str) -> list[str]:
        """Return the folders in which an absolute import in the file `path` finds `top`."""
        folders = dict.fromkeys((*ROOTS, folder_of(path)))
        return [folder for folder in folders if self.places.has(folder, top)]

    def names_in(self, folder: str, name: str) -> set[str] | None:
        """Return the names that the module `name` in `folder` binds, None if not all are known."""
        files = [f"{join(folder, name)}.py", f"{join(folder, name)}/__init__.py"]
        there = [path for path in files if path in self._names]
        if not there:
            # A folder without `__init__` holds no names of its own; a compiled module, any.
            return None if self.places.has_module(folder, name) else set()
        known: set[str] = set()
        for path in there:
            names = self._names[path]
            if names is None:
                return None
            known |= names
        return known


def _ghost_imports(source: Source, world: _World) -> Iterator[_Ghost]:
    for node, is_guarded in guarded(source.syntax, "import"):
        if is_guarded or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            own = [line for line in (node.lineno, alias.lineno) if source.is_own(line)]
            if not own:
                continue
            if isinstance(node, ast.Import):
                ghost = _absolute(source.path, alias.name, None, world)
            elif node.level:
                ghost = _relative(source.path, node, alias.name, world)
            else:
                ghost = _absolute(source.path, node.module or "", alias.name, world)
            if ghost is not None:
                reason, what = ghost
                yield reason, own[0] if reason == "ghost_import" else own[-1], what


def _absolute(path: str, module: str, name: str | None, world: _World) -> tuple[Reason, str] | None:
    """Judge `import module`, or with a name `from module import name`."""
    top = module.partition(".")[0]
    starts = world.starts(path, top)
    if world.is_installed(top):
        return None if starts else _installed(module, name, world)
    if not starts:
        is_elsewhere = world.moves_paths and world.places.holds_anywhere(top)
        return None if is_elsewhere else ("ghost_import", module)
    judged = [_in_tree(start, module, name, module, world) for start in starts]
    return None if None in judged else judged[0]


def _installed(module: str, name: str | None, world: _World) -> tuple[Reason, str] | None:
    names = prefixes(module)
    for parent, child in pairwise(names):
        if world.lacks(parent, child.rpartition(".")[2]):
            return "ghost_import", module
    if name is not None and name != "*" and world.lacks(module, name):
        return "ghost_name", f"{module}.{name}"
    return None


def _relative(
    path: str, node: ast.ImportFrom, name: str, world: _World
) -> tuple[Reason, str] | None:
    folder = relative_folder(path, node.level)
    if folder is None:
        return None
    label = "." * node.level + (node.module or "")
    if node.module:
        return _in_tree(folder, node.module, name, label, world)
    # What the root's own package holds, only its user knows.
    known = world.names_in(*_split(folder)) if folder else None
    if name == "*" or known is None or name in known or world.places.has(folder, name):
        return None
    return "ghost_name", f"{label}{name}"


def _in_tree(
    folder: str, module: str, name: str | None, label: str, world: _World
) -> tuple[Reason, str] | None:
    """Judge an import whose modules lie in the tree, the first of them in `folder`."""
    parts = module.split(".")
    for depth, part in enumerate(parts):
        if not world.places.has(folder, part):
            # A package can make its submodules itself.
            is_open = depth > 0 and world.names_in(*_split(folder)) is None
            return None if is_open else ("ghost_import", label)
        folder = join(folder, part)
    known = world.names_in(*_split(folder))
    if name is None or name == "*" or known is None:
        return None
    if name in known or world.places.has(folder, name):
        return None
    return "ghost_name", f"{label}.{name}"


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _ghost_attributes(source: Source, world: _World) -> Iterator[_Ghost]:
    """Yield `module.name` that a module of the environment does not have, where that is certain.

    Certain means: the first name is bound in this file by imports of that module alone, and no
    file of the tree assigns to an attribute of that name.
    """
    if not world.environment.names:
        return
    modules = _only_imported(source, world)
    for node, is_guarded in guarded(source.syntax, "attribute"):
        if is_guarded or not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        module = _chain(node.value, modules)
        line = node.end_lineno or node.lineno
        is_lacking = module and node.attr not in world.stored and world.lacks(module, node.attr)
        if is_lacking and source.is_own(node.value.end_lineno or line, line):
            yield "ghost_name", line, f"{module}.{node.attr}"


def _chain(node: ast.expr, modules: dict[str, str]) -> str | None:
    """Return the dotted name of `name.attribute…`, where `name` is an imported module."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in modules:
        return None
    return ".".join([modules[node.id], *reversed(parts)])


def _only_imported(source: Source, world: _World) -> dict[str, str]:
    """Return the names that all bindings of a file agree to be one module of the environment."""
    meanings: dict[str, set[str | None]] = {}
    for node in ast.walk(source.syntax):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                bound = alias.asname or alias.name
                if isinstance(node, ast.Import):
                    bound = alias.asname or alias.name.partition(".")[0]
                meanings.setdefault(bound, set()).add(_meaning(node, alias, source.path, world))
        else:
            for name in (*bound_names(node), *_defined(node)):
                meanings.setdefault(name, set()).add(None)
    if "*" in meanings:
        return {}
    return {
        name: module
        for name, found in meanings.items()
        if len(found) == 1 and (module := next(iter(found)))
    }


def _meaning(
    node: ast.Import | ast.ImportFrom, alias: ast.alias, path: str, world: _World
) -> str | None:
    """Return the environment's module that an import binds, None if it is not one for certain."""
    if isinstance(node, ast.Import):
        module = alias.name if alias.asname else alias.name.partition(".")[0]
    else:
        module = f"{node.module}.{alias.name}"
        if node.level or module not in world.environment.names:
            return None
    top = module.partition(".")[0]
    return module if world.is_installed(top) and not world.starts(path, top) else None


def _defined(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg


def _mentioned(tree: ast.AST) -> set[str]:
    """Return every name, attribute name and function name in a file."""
    found: set[str] = set()
    for node in ast.walk(tree):
        found.update(_defined(node))
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def _undefined(source: Source, environment: Environment) -> Iterator[_Ghost]:
    """Yield the names that pyflakes finds undefined, unless the file can make names itself."""
    if _MAKERS & _mentioned(source.syntax):
        return
    from pyflakes import checker, messages

    known = environment.names.get("builtins", frozenset())
    try:
        found = checker.Checker(source.syntax, builtins=set(known), withDoctest=False).messages
    except RecursionError:
        return
    bound = lay_out(source).module.slots
    for message in found:
        if isinstance(message, messages.UndefinedName) and source.is_own(message.lineno):
            name = str(message.message_args[0])
            if name not in bound:  # what is bound too late or deleted again is defined
                yield "ghost_name", message.lineno, name
