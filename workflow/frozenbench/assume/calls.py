"""Calls: functions that find things by name, and functions and classes of the tree itself."""

from __future__ import annotations

import ast

from frozenbench.assume.graph import NOTHING, Graph, Values
from frozenbench.assume.scopes import RETURN, Dotted, Held, Holder, Text, Value

_GETTERS = {"builtins.getattr", "inspect.getattr_static", "builtins.object.__getattribute__"}
_IMPORTERS = {"builtins.__import__", "importlib.__import__"}
_LOADERS = {"importlib.import_module", "runpy.run_module", "pkgutil.resolve_name"}
_NAMESPACES = {"builtins.vars", "builtins.globals", "builtins.locals"}
#: Names that matter on the way to a banned one.
SPECIAL = frozenset({*_GETTERS, *_IMPORTERS, *_LOADERS, *_NAMESPACES, "sys.modules"})
_TABLE_METHODS = {"get", "pop", "setdefault", "__getitem__"}


def call(graph: Graph, node: ast.Call, scope: Holder) -> Values:
    """Return what a call can return, and pass its arguments to functions of the tree."""
    found: set[Value] = set()
    for value in graph.values(node.func):
        if isinstance(value, Dotted):
            found |= _special_call(graph, value.name, node, scope)
        elif isinstance(value, Held):
            found |= _own_call(graph, value, node)
    if isinstance(node.func, ast.Attribute):
        found |= _method_call(graph, node.func, node)
    return frozenset(found)


def _special_call(graph: Graph, name: str, node: ast.Call, scope: Holder) -> Values:
    """Return what a call of a function that finds things by name can return."""
    if name in _GETTERS:
        found = _items_of(graph, graph.values(_argument(node, 0)), _argument(node, 1))
        return found | graph.values(_argument(node, 2))
    if name in _IMPORTERS or name in _LOADERS:
        texts = _imported_texts(graph, node)
        if name in _IMPORTERS:
            texts |= {text.partition(".")[0] for text in texts}
        names = {each for text in texts for each in graph.absolute(text, scope.path)}
        return frozenset().union(*(graph.known(each) for each in names))
    if name == "builtins.vars" and node.args:
        return graph.attribute(graph.values(node.args[0]), "__dict__")
    if name in _NAMESPACES:
        return frozenset({Held(scope.module if name == "builtins.globals" else scope)})
    return NOTHING


def _imported_texts(graph: Graph, node: ast.Call) -> set[str]:
    texts = {v.value for v in graph.values(_argument(node, 0, "name")) if isinstance(v, Text)}
    packages = {v.value for v in graph.values(_argument(node, 1, "package")) if isinstance(v, Text)}
    return {
        full.replace(":", ".")
        for text in texts
        for full in ({package + text for package in packages} if text[0:1] == "." else {text})
    }


def _items_of(graph: Graph, values: Values, key: ast.AST | None) -> Values:
    names = [name for name in graph.keys(key) if isinstance(name, str)]
    return frozenset().union(*(graph.attribute(values, name) for name in names))


def _own_call(graph: Graph, value: Held, node: ast.Call) -> set[Value]:
    """Call a function or class of the tree: pass the arguments, return what it returns."""
    holder = value.holder
    if holder.kind == "class":
        for method in graph.attribute({value}, "__init__"):
            if isinstance(method, Held):
                _pass_arguments(graph, method.holder, node)
        return {value}
    if holder.kind != "function":
        return set()
    _pass_arguments(graph, holder, node)
    return holder.slots.get(RETURN, set())


def _pass_arguments(graph: Graph, function: Holder, node: ast.Call) -> None:
    names = function.parameters[1:] if function.is_bound else function.parameters
    for name, argument in zip(names, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        graph.add(function, name, graph.values(argument))
    for keyword in node.keywords:
        if keyword.arg in function.slots:
            graph.add(function, keyword.arg, graph.values(keyword.value))


def _method_call(graph: Graph, method: ast.Attribute, node: ast.Call) -> Values:
    receiver, first = graph.values(method.value), _argument(node, 0)
    if method.attr in _TABLE_METHODS:
        tables = [
            value
            for value in receiver
            if (isinstance(value, Held) and value.holder.kind in ("box", "module"))
            or (isinstance(value, Dotted) and (value.table or value.name == "sys.modules"))
        ]
        return graph.items(tables, graph.keys(first))
    if method.attr == "__getattribute__":
        return _items_of(graph, receiver, first)
    if method.attr == "join":
        return _join_call(graph, receiver, graph.values(first))
    return NOTHING


def _join_call(graph: Graph, separators: Values, parts: Values) -> Values:
    found: set[Value] = set()
    for box in (v.holder for v in parts if isinstance(v, Held) and v.holder.kind == "box"):
        indexes = sorted(key for key in box.slots if isinstance(key, int) and key >= 0)
        pieces = [frozenset(box.slots[index]) for index in indexes]
        for separator in separators:
            if isinstance(separator, Text):
                found |= graph.joined(separator.value, pieces)
    return frozenset(found)


def _argument(node: ast.Call, position: int, keyword: str | None = None) -> ast.expr | None:
    """Return the argument at a position or of a keyword, or None."""
    if len(node.args) > position:
        return node.args[position]
    return next((k.value for k in node.keywords if keyword and k.arg == keyword), None)
