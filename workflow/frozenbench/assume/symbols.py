"""Banned dotted names that the agent's lines reach."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from frozenbench.assume.finding import Finding
from frozenbench.assume.flow import settle
from frozenbench.assume.graph import Graph, prefixes
from frozenbench.assume.lines import one_line
from frozenbench.assume.places import ROOTS, Places, module_names
from frozenbench.assume.scopes import Dotted, Held, Layout, lay_out
from frozenbench.assume.sources import Source, agent_sources, python_sources
from frozenbench.canonical import Tree


def banned_symbol(fixture: Tree, artifact: Tree, names: Sequence[str]) -> Finding | None:
    """Return the first use of a banned dotted name on the agent's lines, by path and line.

    A ban covers the name and everything below it: `dotenv` every use of that module,
    `requests.get` that function, `open` the builtin. What counts as reaching, and where that
    ends, stands in the docstring of `frozenbench.assume`.
    """
    names = [name for name in names if name]
    sources = agent_sources(fixture, artifact) if names else []
    if not any(source.own for source in sources):
        return None
    bans = _wanted(_in_force(names, fixture, artifact))
    layouts = [lay_out(source) for source in sources]
    graph = settle(layouts, bans, Places(artifact), Places(fixture))
    for layout in layouts:
        found = min(_reached(layout, graph), default=None)
        if found is not None:
            line, name = found
            return Finding("banned_symbol", layout.source.path, line, one_line(bans[name]))
    return None


def _wanted(names: Sequence[str]) -> dict[str, str]:
    """Return the names to look for, each with the ban that it stands for."""
    wanted = {name: name for name in names}
    for name in names:
        if hasattr(builtins, name.partition(".")[0]):
            wanted.setdefault(f"builtins.{name}", name)
    return wanted


def _in_force(names: Sequence[str], fixture: Tree, artifact: Tree) -> list[str]:
    """Leave out bans that a module of the fixture stands in front of.

    If the fixture brings a module `dotenv` that does not define `load_dotenv`, then
    `dotenv.load_dotenv` is the name of something that no import here reaches. A name that the
    fixture's module does define is what the ban means.
    """
    kept = {path: file for path, file in fixture.items() if path in artifact}
    places = Places(kept)
    tops = {name.partition(".")[0] for name in names}
    if not any(places.has_module(root, top) for root in ROOTS for top in tops):
        return list(names)
    modules = {
        name: lay_out(source).module
        for source in python_sources(kept)
        for name in module_names(source.path)
    }

    def is_in_front(name: str) -> bool:
        top = name.partition(".")[0]
        if not any(places.has_module(root, top) for root in ROOTS):
            return False
        known = [part for part in prefixes(name) if part in modules]
        if not known or known[-1] == name:
            return False
        holder = modules[known[-1]]
        return not holder.has_star and name.split(".")[known[-1].count(".") + 1] not in holder.slots

    return [name for name in names if not is_in_front(name)]


def _reached(layout: Layout, graph: Graph) -> Iterator[tuple[int, str]]:
    """Yield the agent's lines of a file that reach a wanted name, with the name."""
    source = layout.source
    for node, _ in layout.order:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node, source, graph)
            continue
        found = {value.name for value in graph.values(node) if isinstance(value, Dotted)}
        names = sorted(name for name in found if name in graph.wanted)
        if names and isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            first, last = _extent(node, graph)
            yield from ((line, names[0]) for line in range(first, last + 1) if line in source.own)


def _imported(
    node: ast.Import | ast.ImportFrom, source: Source, graph: Graph
) -> Iterator[tuple[int, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom) and alias.name == "*":
            names = graph.star(node, source.path)
        else:
            full = graph.imported(node, alias, source.path)
            names = {name for each in full if (name := graph.covering(each))}
        lines = {node.lineno, *range(alias.lineno, (alias.end_lineno or alias.lineno) + 1)}
        yield from ((line, name) for name in names for line in lines & source.own)


def _extent(
    node: ast.Name | ast.Attribute | ast.Subscript | ast.Call, graph: Graph
) -> tuple[int, int]:
    """Return the first and last line on which a node makes the step to its name.

    Of `x.name` these are the lines from the end of `x`, not those of a long call within `x`. A call
    of a function of the tree counts where the function is named; its arguments do not matter.
    """
    last = node.end_lineno or node.lineno
    if isinstance(node, ast.Name):
        return node.lineno, last
    before = node.func if isinstance(node, ast.Call) else node.value
    first = before.end_lineno or before.lineno
    if isinstance(node, ast.Call):
        callee = graph.values(before)
        is_own = bool(callee) and all(isinstance(value, Held) for value in callee)
        return first, first if is_own else last
    return first, last
