"""What each kind of node can be, and the fixed point over all files of a tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from frozenbench.assume.calls import SPECIAL, call
from frozenbench.assume.graph import NOTHING, Graph, Values, prefixes
from frozenbench.assume.places import Places
from frozenbench.assume.scopes import (
    BASES,
    BOXES,
    COMPREHENSIONS,
    FUNCTIONS,
    RETURN,
    Held,
    Holder,
    Layout,
    Value,
)

#: Aliases that are bound against the order of the lines take a round each.
_ROUNDS = 50


def settle(
    layouts: Sequence[Layout], wanted: Iterable[str], tree: Places, fixture: Places
) -> Graph:
    """Return the values of all nodes of `layouts` that lead to `wanted` dotted names.

    `tree` and `fixture` tell which modules the artifact and the fixture hold.
    """
    graph = Graph(layouts, wanted, SPECIAL, (tree, fixture))
    for _ in range(_ROUNDS):
        graph.is_changed = False
        for layout in layouts:
            for node, scope in layout.order:
                step = _STEPS.get(type(node))
                if step is not None:
                    graph.learn(node, step(graph, node, scope))
        if not graph.is_changed:
            break
    return graph


def _name(graph: Graph, node: ast.Name, scope: Holder) -> Values:
    return graph.lookup(scope, node.id) if isinstance(node.ctx, ast.Load) else NOTHING


def _constant(graph: Graph, node: ast.Constant, _scope: Holder) -> Values:
    return graph.text(node.value) if isinstance(node.value, str) else NOTHING


def _attribute_node(graph: Graph, node: ast.Attribute, _scope: Holder) -> Values:
    return graph.attribute(graph.values(node.value), node.attr)


def _subscript(graph: Graph, node: ast.Subscript, _scope: Holder) -> Values:
    return graph.items(graph.values(node.value), graph.keys(node.slice))


def _either(graph: Graph, node: ast.IfExp | ast.BoolOp, _scope: Holder) -> Values:
    parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
    return frozenset().union(*(graph.values(part) for part in parts))


def _same(
    graph: Graph, node: ast.NamedExpr | ast.Await | ast.FormattedValue, scope: Holder
) -> Values:
    found = graph.values(node.value)
    if isinstance(node, ast.NamedExpr):
        graph.store(node.target, found, scope)
    return found


def _binary(graph: Graph, node: ast.BinOp, _scope: Holder) -> Values:
    parts = [graph.values(node.left), graph.values(node.right)]
    return graph.joined("", parts) if isinstance(node.op, ast.Add) else NOTHING


def _joined_string(graph: Graph, node: ast.JoinedStr, _scope: Holder) -> Values:
    return graph.joined("", [graph.values(part) for part in node.values])


def _box(graph: Graph, node: ast.AST, _scope: Holder) -> Values:
    box = graph.inner[node]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            for constant in graph.keys(key):
                graph.add(box, constant, graph.values(value))
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        count = len(node.elts)
        has_star = any(isinstance(part, ast.Starred) for part in node.elts)
        for index, part in enumerate(node.elts):
            found = graph.values(part)
            # Behind a star the index is not known; iteration still finds the element.
            graph.add(box, ("any",) if has_star else index, found)
            if not has_star:
                graph.add(box, index - count, found)
    return frozenset({Held(box)})


def _comprehension(graph: Graph, node: ast.AST, _scope: Holder) -> Values:
    assert isinstance(node, COMPREHENSIONS)
    for part in node.generators:
        graph.store(part.target, graph.each(graph.values(part.iter)), graph.inner[node])
    return NOTHING


def _assign(graph: Graph, node: ast.Assign | ast.AnnAssign, scope: Holder) -> Values:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        graph.store(target, graph.values(node.value), scope)
    return NOTHING


def _augmented(graph: Graph, node: ast.AugAssign, scope: Holder) -> Values:
    if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
        before = graph.lookup(scope, node.target.id)
        graph.store(node.target, graph.joined("", [before, graph.values(node.value)]), scope)
    return NOTHING


def _loop(graph: Graph, node: ast.For | ast.AsyncFor, scope: Holder) -> Values:
    graph.store(node.target, graph.each(graph.values(node.iter)), scope)
    return NOTHING


def _with_item(graph: Graph, node: ast.withitem, scope: Holder) -> Values:
    if node.optional_vars is not None:
        graph.store(node.optional_vars, graph.values(node.context_expr), scope)
    return NOTHING


def _match(graph: Graph, node: ast.Match, scope: Holder) -> Values:
    for case in node.cases:
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.name:
            graph.add(scope.owner(case.pattern.name), case.pattern.name, graph.values(node.subject))
    return NOTHING


def _import(graph: Graph, node: ast.Import, scope: Holder) -> Values:
    for alias in node.names:
        for name in graph.absolute(alias.name, scope.path):
            # `import a.b` binds a, or for a module beside the file the folder's `folder.a`.
            depth = name.count(".") - alias.name.count(".")
            bound = name if alias.asname else prefixes(name)[depth]
            key = alias.asname or alias.name.partition(".")[0]
            graph.add(scope.owner(key), key, graph.known(bound))
    return NOTHING


def _import_from(graph: Graph, node: ast.ImportFrom, scope: Holder) -> Values:
    for module in graph.origins(node, scope.path):
        for alias in node.names:
            if alias.name == "*":
                graph.add_star(scope.module, module)
                continue
            key = alias.asname or alias.name
            graph.add(scope.owner(key), key, graph.member(module, alias.name, set()))
    return NOTHING


def _define(graph: Graph, node: ast.AST, scope: Holder) -> Values:
    inner = graph.inner[node]
    made: set[Value] = {Held(inner)}
    if isinstance(node, ast.Lambda):
        graph.add(inner, RETURN, graph.values(node.body))
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        _defaults(graph, node.args, inner)
    if isinstance(node, FUNCTIONS):
        # A decorator can make an attribute of a method, as `property` does.
        made |= inner.slots.get(RETURN, set()) if node.decorator_list else set()
        graph.add(scope.owner(node.name), node.name, made)
    if isinstance(node, ast.ClassDef):
        for base in node.bases:
            graph.add(inner, BASES, graph.values(base))
        graph.add(scope.owner(node.name), node.name, made)
    return frozenset(made) if isinstance(node, ast.Lambda) else NOTHING


def _defaults(graph: Graph, arguments: ast.arguments, function: Holder) -> None:
    positional = arguments.posonlyargs + arguments.args
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        graph.add(function, argument.arg, graph.values(default))


def _return(graph: Graph, node: ast.Return, scope: Holder) -> Values:
    if scope.kind == "function":
        graph.add(scope, RETURN, graph.values(node.value))
    return NOTHING


#: One step for each kind of node; each takes the node that its key names.
_STEPS: dict[type[ast.AST], Callable[[Graph, Any, Holder], Values]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Attribute: _attribute_node,
    ast.Subscript: _subscript,
    ast.IfExp: _either,
    ast.BoolOp: _either,
    ast.NamedExpr: _same,
    ast.Await: _same,
    ast.FormattedValue: _same,
    ast.BinOp: _binary,
    ast.JoinedStr: _joined_string,
    **dict.fromkeys(BOXES, _box),
    **dict.fromkeys(COMPREHENSIONS, _comprehension),
    ast.Assign: _assign,
    ast.AnnAssign: _assign,
    ast.AugAssign: _augmented,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.withitem: _with_item,
    ast.Match: _match,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    **dict.fromkeys((*FUNCTIONS, ast.Lambda, ast.ClassDef), _define),
    ast.Return: _return,
    ast.Call: call,
}
