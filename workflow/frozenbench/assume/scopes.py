"""Scopes of Python files: what is bound where, and every node in the order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from frozenbench.assume.sources import Source

Kind = Literal["module", "class", "function", "comprehension", "box"]
#: A name, the index or key of a container literal, or one of the two below.
Key = str | int | tuple[str]
RETURN: Key = ("return",)
BASES: Key = ("bases",)

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BOXES = (ast.List, ast.Tuple, ast.Set, ast.Dict)


@dataclass(frozen=True)
class Dotted:
    """What a dotted name reaches; with `table`, the `__dict__` of that."""

    name: str
    table: bool = False


@dataclass(frozen=True)
class Text:
    """A constant string."""

    value: str


@dataclass(frozen=True)
class Held:
    """What a file of the tree makes: a module, class or instance, function, container."""

    holder: Holder


Value = Dotted | Text | Held


@dataclass(eq=False)
class Holder:
    """A scope or a container literal: sets of values by key."""

    kind: Kind
    path: str
    parent: Holder | None = None
    slots: dict[Key, set[Value]] = field(default_factory=dict)
    outer_names: dict[str, Literal["global", "nonlocal"]] = field(default_factory=dict)
    has_star: bool = False  #: of a module: it imports `*` from another one
    stars: set[str] = field(default_factory=set)  #: of a module: what it imports `*` from
    parameters: list[str] = field(default_factory=list)  #: positional ones, in order
    is_bound: bool = False  #: of a function: called with its first argument in front (a method)

    @property
    def module(self) -> Holder:
        """The module scope around."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Holder:
        """Return the scope that an assignment to `name` binds here."""
        how = self.outer_names.get(name)
        if how == "global":
            return self.module
        scope = self.parent if how == "nonlocal" else None
        while scope is not None:
            if scope.kind == "function" and name in scope.slots:
                return scope
            scope = scope.parent
        return self

    def bind(self, name: str) -> set[Value]:
        """Make `name` one that is bound here, and return its values."""
        return self.owner(name).slots.setdefault(name, set())


@dataclass(frozen=True, eq=False)
class Layout:
    """A file's scopes and its nodes, children before parents, in source order."""

    source: Source
    module: Holder
    order: list[tuple[ast.AST, Holder]]
    inner: dict[ast.AST, Holder]  #: the holder that a definition, comprehension or literal makes


def lay_out(source: Source) -> Layout:
    """Find the scopes of a file and bind its names. A loop, for syntax can nest deeply."""
    module = Holder("module", source.path)
    layout = Layout(source, module, [], {})
    stack: list[tuple[ast.AST, Holder, bool]] = [(source.syntax, module, False)]
    while stack:
        node, scope, is_done = stack.pop()
        if is_done:
            layout.order.append((node, scope))
            continue
        _declare(node, scope, layout)
        stack.append((node, scope, True))
        children = list(_children(node, scope, layout.inner))
        stack.extend((child, inner, False) for child, inner in reversed(children))
    return layout


def is_method(node: ast.AST, scope: Holder) -> bool:
    """Tell whether a definition is called with an object or class in front."""
    return (
        isinstance(node, FUNCTIONS)
        and scope.kind == "class"
        and not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    )


def _declare(node: ast.AST, scope: Holder, layout: Layout) -> None:
    """Bind what `node` itself binds, and make the holder that it opens."""
    if isinstance(node, BOXES):
        layout.inner[node] = Holder("box", scope.path)
    elif isinstance(node, COMPREHENSIONS):
        layout.inner[node] = Holder("comprehension", scope.path, scope)
    elif isinstance(node, ast.ClassDef):
        layout.inner[node] = Holder("class", scope.path, scope)
        scope.bind(node.name)
    elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
        _declare_function(node, scope, layout)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        how: Literal["global", "nonlocal"] = (
            "global" if isinstance(node, ast.Global) else "nonlocal"
        )
        scope.outer_names.update(dict.fromkeys(node.names, how))
    else:
        for name in bound_names(node):
            scope.bind(name)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            scope.module.has_star = True


def _declare_function(node: Function | ast.Lambda, scope: Holder, layout: Layout) -> None:
    function = Holder("function", scope.path, scope)
    layout.inner[node] = function
    arguments = node.args
    function.parameters = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    for argument in (*arguments.kwonlyargs, *extra):
        function.bind(argument.arg)
    for name in function.parameters:
        function.bind(name)
    if not isinstance(node, ast.Lambda):
        scope.bind(node.name)
        function.is_bound = is_method(node, scope)
    if function.is_bound and function.parameters:
        function.bind(function.parameters[0]).add(Held(scope))


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node other than a function or class binds in its own scope."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _children(
    node: ast.AST, scope: Holder, inner: dict[ast.AST, Holder]
) -> Iterator[tuple[ast.AST, Holder]]:
    """Yield a node's children with the scope that each is evaluated in."""
    if isinstance(node, COMPREHENSIONS):
        for number, part in enumerate(node.generators):
            yield part.iter, inner[node] if number else scope
            yield from ((each, inner[node]) for each in (part.target, *part.ifs))
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        yield from ((each, inner[node]) for each in results)
    elif isinstance(node, ast.NamedExpr):
        yield node.value, scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        yield node.target, scope
    elif isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = set(body)
        for child in ast.iter_child_nodes(node):
            yield child, inner[node] if child in inside else scope
    else:
        for child in ast.iter_child_nodes(node):
            yield child, scope
