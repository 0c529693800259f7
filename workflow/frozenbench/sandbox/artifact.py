"""The artifact, taken out of a work folder that its maker controlled."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from frozenbench.canonical import File, is_cache
from frozenbench.sandbox.trees import Item, open_file, walk

MIB = 1024 * 1024


def take_tree(
    folder: Path,
    max_files: int = 2000,
    max_bytes: int = 32 * MIB,
    max_file_bytes: int = 8 * MIB,
) -> tuple[dict[str, File], list[str], str | None]:
    """Read the regular files below `folder` into memory, caches left out.

    Every name is looked at by lstat and opened without following a link, so that nothing
    outside the folder can come out of it.

    Returns:
        the tree; one note for each name that was left out (links, devices, sockets, names that
        are not UTF-8, what cannot be read); and the limit that was passed, or None. With a limit
        the tree holds what was read until then.
    """
    owner = folder.lstat().st_uid
    tree: dict[str, File] = {}
    notes: list[str] = []
    total = names = 0
    for item in walk(folder, skip=is_cache):
        names += 1
        if names > 10 * max_files or len(notes) > max_files:
            return tree, notes, f"more than {10 * max_files} names or {max_files} left out"
        if item.is_folder and item.unread and item.unread.startswith("nested"):
            return tree, notes, f"{_shown(item.path)}: {item.unread}"
        if (note := _left_out(item, owner)) is not None:
            notes.append(f"{_shown(item.path)}: {note}")
            continue
        if item.is_folder:
            continue
        if len(tree) >= max_files:
            return tree, notes, f"more than {max_files} files"
        # A sparse file costs its maker nothing, so its size is looked at before its bytes.
        too_large = item.status.st_size > max_file_bytes
        data = b"" if too_large else _read(item, max_file_bytes)
        if data is None:
            notes.append(f"{_shown(item.path)}: cannot be read")
            continue
        total += len(data)
        if too_large or len(data) > max_file_bytes:
            return tree, notes, f"{_shown(item.path)}: larger than {max_file_bytes} bytes"
        if total > max_bytes:
            return tree, notes, f"larger than {max_bytes} bytes in all"
        tree[item.path] = File(data, bool(item.status.st_mode & stat.S_IXUSR))
    return tree, notes, None


def _left_out(item: Item, owner: int) -> str | None:
    """Return why a name cannot be part of an artifact, or None."""
    try:
        item.path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if item.is_folder:
        return item.unread
    mode = item.status.st_mode
    if stat.S_ISLNK(mode):
        return "is a link"
    if not stat.S_ISREG(mode):
        return "is no regular file"
    if item.status.st_nlink > 1 and item.status.st_uid != owner:
        return "is another name of somebody else's file"
    return None


def _read(item: Item, limit: int) -> bytes | None:
    """Return at most `limit` + 1 bytes of a file, or None where it cannot be read."""
    try:
        with os.fdopen(open_file(item.name, item.folder), "rb") as handle:
            return handle.read(limit + 1)
    except OSError:
        return None


def _shown(path: str) -> str:
    """Return a path for a note: bytes that are no UTF-8 as escapes, no control characters."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
