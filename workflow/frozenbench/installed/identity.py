"""The digest of an installed program: of all its files, kept until one of them changes."""

# The os module here: an environment has tens of thousands of files, and each cell looks at them.
# ruff: noqa: PTH112, PTH114, PTH115
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from frozenbench.canonical import (
    Entry,
    digest,
    is_cache,
    sha256_bytes,
    sha256_file,
    tree_digest,
    write_json,
)
from frozenbench.sandbox.folders import inner_folder

#: What installers write beside a package of Python: how it came here, not what it is.
_TRACES = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json")


def tree_identity(trees: Mapping[str, Path]) -> str:
    """Return the digest of all files of some trees: path below the tree's name, and content.

    Caches, byte code and the traces of installers are left out, and so are owners, times and
    x-bits: the same release is the same program wherever and however it was installed.
    """
    return kept(["tree", 1], trees, lambda: tree_digest(_entries(trees)))


def kept(key: object, trees: Mapping[str, Path], make: Callable[[], str]) -> str:
    """Return the text that `make` gives for these files; asked again only when one has changed.

    A change is seen by name, size, inode and times.
    """
    listing = [
        [path, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
        for path, _, status in _files(trees)
    ]
    path = inner_folder("programs") / f"{digest([key, listing])[:32]}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(path.read_bytes())["value"])
    value = make()
    write_json(path, {"value": value})
    return value


def _entries(trees: Mapping[str, Path]) -> Iterator[Entry]:
    for path, file, _ in _files(trees):
        if os.path.islink(file):
            yield Entry(path, False, sha256_bytes(b"link " + os.fsencode(os.readlink(file))))
        else:
            yield Entry(path, False, sha256_file(Path(file)))


def _files(trees: Mapping[str, Path]) -> Iterator[tuple[str, str, os.stat_result]]:
    for name, root in sorted(trees.items()):
        if os.path.isdir(root) and not os.path.islink(root):
            yield from _below(name, str(root))
        else:
            yield name, str(root), os.lstat(root)


def _below(name: str, folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    with os.scandir(folder) as items:
        ordered = sorted(items, key=lambda item: item.name)
    for item in ordered:
        path = f"{name}/{item.name}"
        if is_cache(item.name) or (name.endswith(".dist-info") and item.name in _TRACES):
            continue
        if item.is_dir(follow_symlinks=False):
            yield from _below(path, item.path)
        else:
            yield path, item.path, item.stat(follow_symlinks=False)
