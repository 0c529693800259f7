"""The Python files of a tree, as syntax trees."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from frozenbench.assume.lines import agent_lines, split_lines
from frozenbench.canonical import Tree

#: The declaration of a source file's encoding, in its first or second line.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True, eq=False)
class Source:
    """One Python file that parses."""

    path: str
    syntax: ast.Module
    own: frozenset[int]  #: the numbers of the agent's lines, as the syntax tree counts them

    def is_own(self, first: int, last: int | None = None) -> bool:
        """Tell whether one of the lines `first` to `last` (default: `first`) is the agent's."""
        return not self.own.isdisjoint(range(first, (last or first) + 1))


def is_python(path: str, data: bytes) -> bool:
    """Tell whether a file is Python: `*.py`, or no suffix and a `python` in its `#!` line."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return True
    first = data[:256].partition(b"\n")[0]
    return not suffix and first.startswith(b"#!") and b"python" in first


def parse(data: bytes) -> ast.Module | None:
    """Return the syntax tree, or None for what the running Python does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(data)
        except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
            return None


def python_sources(tree: Tree, own: Mapping[str, frozenset[int]] | None = None) -> list[Source]:
    """Return the Python files of a tree that parse, by path, with the agent's lines `own`."""
    own = own or {}
    result = []
    for path in sorted(tree):
        data = tree[path].data
        syntax = parse(data) if is_python(path, data) else None
        if syntax is not None:
            lines = _as_decoded(data, own.get(path, frozenset()))
            result.append(Source(path, syntax, lines))
    return result


def agent_sources(fixture: Tree, artifact: Tree) -> list[Source]:
    """Return the Python files of the artifact that parse, each with the agent's lines."""
    return python_sources(artifact, agent_lines(fixture, artifact))


def _as_decoded(data: bytes, own: frozenset[int]) -> frozenset[int]:
    """Return `own`, or every line where the declared encoding makes other lines of the bytes.

    With `# coding: unicode_escape` a comment can hold a line end and code behind it: there a line
    of the file says nothing about a line of the syntax tree.
    """
    cookies = [_COOKIE.match(line) for line in split_lines(data)[:2]] if own else []
    encoding = next((cookie.group(1).decode("ascii") for cookie in cookies if cookie), None)
    if encoding is None:
        return own
    try:
        lines = data.decode(encoding).count("\n")
    except (LookupError, ValueError):
        return own
    return own if lines == data.count(b"\n") else frozenset(range(1, lines + 2))
