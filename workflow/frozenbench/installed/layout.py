"""Where an installed program stands inside a box, and what the kinds of program share."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

#: Folder of the program's own packages inside, and of an interpreter that is not below /usr.
PROGRAM, INTERPRETER = "/opt/agent", "/opt/agent-runtime"


#: How the second line of a Python script begins whose interpreter's path is long or has spaces:
#: for the shell it starts that, for Python it is a text.
LONG = b"'''exec' "


@dataclass(frozen=True)
class Found:
    """An installed program of one kind.

    Attributes:
        name: of its package.
        version: of its package.
        trees: its files: name of each package or part -> folder or file outside.
        mounts: (path outside, path inside), outer ones first.
        inside: the words that start it in a walled box.
        search: folders inside that belong on PATH.
        outside: the words that start it without walls; none: its own path.
    """

    name: str
    version: str
    trees: dict[str, Path]
    mounts: tuple[tuple[Path, str], ...]
    inside: tuple[str, ...]
    search: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


def shebang(path: Path) -> tuple[str, ...]:
    """Return the words of a script's first line, `env` left out; none for a binary."""
    with path.open("rb") as handle:
        head = handle.read(512)
    if not head.startswith(b"#!"):
        return ()
    lines = head[2:].split(b"\n")
    words = lines[0].decode("utf-8", "replace").split()
    if words and words[0] == "/bin/sh" and len(lines) > 1 and lines[1].startswith(LONG):
        words = shlex.split(lines[1].removeprefix(LONG).decode("utf-8", "replace"))[:1]
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]
    return tuple(words[:1])


def in_system(path: Path) -> bool:
    """Tell whether every box shows a path by itself."""
    return path.is_relative_to("/usr")
