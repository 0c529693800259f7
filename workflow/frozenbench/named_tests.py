"""Which hidden tests a grading command names: it follows from the command and the hidden paths."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath


def paths_in(argv: Sequence[str]) -> list[str]:
    """Return the words of a command that could be paths in the tree (`path::test` cut)."""
    named = []
    for word in argv[1:]:
        name = word.split("::", 1)[0].rstrip("/")
        if name and not name.startswith("-") and not PurePosixPath(name).is_absolute():
            named.append(PurePosixPath(name).as_posix())
    return named


def hidden_named(argv: Sequence[str], hidden: Collection[str]) -> tuple[str, ...]:
    """Return those words of a command that are hidden files, or folders of such."""
    return tuple(
        name
        for name in paths_in(argv)
        if name in hidden or any(path.startswith(f"{name}/") for path in hidden)
    )
