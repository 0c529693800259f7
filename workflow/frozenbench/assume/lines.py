"""Which lines are the agent's, and the banned strings in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from frozenbench.assume.finding import Finding
from frozenbench.canonical import Tree

_BOM = b"\xef\xbb\xbf"


def split_lines(data: bytes) -> list[bytes]:
    """Split bytes at LF, CRLF and lone CR, as the Python tokenizer counts lines; no BOM."""
    return data.removeprefix(_BOM).splitlines()


def agent_lines(fixture: Tree, artifact: Tree) -> dict[str, frozenset[int]]:
    """Return, for each artifact path that has some, the numbers (from 1) of the agent's lines.

    A line is the agent's if its bytes without outer ASCII white space stand nowhere in the
    fixture: moved, copied, re-indented code and changed line ends are not the agent's, and a
    blank line is nobody's. Every such line is an added or a changed one, so no difference is
    computed.
    """
    known = {line.strip() for file in fixture.values() for line in split_lines(file.data)}
    known.add(b"")
    result = {}
    for path, file in artifact.items():
        lines = enumerate(split_lines(file.data), start=1)
        numbers = frozenset(number for number, line in lines if line.strip() not in known)
        if numbers:
            result[path] = numbers
    return result


def banned_string(fixture: Tree, artifact: Tree, strings: Sequence[str]) -> Finding | None:
    """Return the first banned string in the agent's lines or in the path names that it added.

    Strings are looked for as UTF-8 bytes, in files of every kind, comments included. Of an added
    path only what lies below the fixture's own folders is the agent's. The order is that of
    path, line, `strings`. An empty string, or one that holds a line end, is in no line.
    """
    needles = [(text, text.encode("utf-8", "surrogatepass")) for text in strings if text]
    if not needles:
        return None
    own = agent_lines(fixture, artifact)
    folders = {parent.as_posix() for path in fixture for parent in PurePosixPath(path).parents} - {
        "."
    }
    for path in sorted(artifact):
        if path not in fixture:
            for text, _ in needles:
                if _in_added_part(text, path, folders):
                    return Finding("banned_string", path, 0, one_line(text))
        numbers = own.get(path, frozenset())
        lines = split_lines(artifact[path].data) if numbers else []
        for number in sorted(numbers):
            for text, needle in needles:
                if needle in lines[number - 1]:
                    return Finding("banned_string", path, number, one_line(text))
    return None


def one_line(text: str) -> str:
    """Return `text` as one printable line."""
    return text if text.isprintable() else ascii(text)[1:-1]


def _in_added_part(text: str, path: str, folders: set[str]) -> bool:
    """Tell whether `text` stands in `path` so that it reaches beyond the fixture's folders."""
    parents = (parent.as_posix() for parent in PurePosixPath(path).parents)
    given = next((parent for parent in parents if parent in folders), None)
    start = 0 if given is None else max(0, len(given) + 2 - len(text))
    return text in path[start:]
