"""Which nodes of a file are guarded: code that says itself that something may not be there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: Exceptions, and those above them, that an absent module or attribute raises.
_IMPORT = frozenset({"ImportError", "ModuleNotFoundError"})
_ATTRIBUTE = frozenset({"AttributeError"})
_ALL = frozenset({"Exception", "BaseException"})
#: Names in the condition of an `if` that choose by what there is: a type checker, a version, a
#: platform.
_CHOICES = frozenset(
    {"TYPE_CHECKING", "version_info", "hexversion", "hasattr", "find_spec"}
    | {"platform", "system", "implementation", "python_implementation"}
)


def guarded(tree: ast.AST, kind: str) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node with whether an absent module or attribute is allowed for there.

    `kind` is "import" or "attribute". Guards are `try` with a handler of the fitting exception
    (its handlers too: they are the other way), `with suppress(…)`, and an `if` or a conditional
    expression that asks for the type checker, the version, the platform, or whether there is such
    a name or module.
    """
    caught = _ALL | (_IMPORT if kind == "import" else _IMPORT | _ATTRIBUTE)
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, is_guarded = stack.pop()
        yield node, is_guarded
        children = set(_guarded_children(node, caught))
        stack.extend(
            (child, is_guarded or child in children) for child in ast.iter_child_nodes(node)
        )


def _guarded_children(node: ast.AST, caught: frozenset[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.Try | ast.TryStar):
        if any(h.type is None or caught & _names(h.type) for h in node.handlers):
            yield from (*node.body, *node.handlers)
    elif isinstance(node, ast.With | ast.AsyncWith):
        calls = [i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)]
        if any("suppress" in _names(c.func) and caught & _names(c) for c in calls):
            yield from node.body
    elif isinstance(node, ast.If | ast.IfExp):
        if _chooses(node.test):
            yield from ast.iter_child_nodes(node)
    elif isinstance(node, ast.BoolOp) and any(_chooses(value) for value in node.values):
        yield from node.values
    elif caught >= _ATTRIBUTE:
        # An annotation may name what only type checkers know.
        note = getattr(node, "annotation", None) or getattr(node, "returns", None)
        yield from (note,) if note else ()


def _chooses(test: ast.AST) -> bool:
    is_os_name = any(
        isinstance(node, ast.Attribute)
        and node.attr == "name"
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        for node in ast.walk(test)
    )
    is_never = isinstance(test, ast.Constant) and not test.value
    return is_os_name or is_never or bool(_CHOICES & _names(test))


def _names(node: ast.AST) -> set[str]:
    """Return the names and attribute names in an expression."""
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }
