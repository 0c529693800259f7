"""The artifact, taken out of a work folder that its maker controlled."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from frozenbench.canonical import Entry, File, canonical_json, is_cache, tree_digest
from frozenbench.sandbox.trees import Item, open_file, walk

MIB = 1024 * 1024

#: What is read at most for the digest of a tree that is too large to be an artifact. A limited
#: work folder (`sandbox.folders`) can hold neither so many names nor so many bytes.
DIGEST_NAMES = 200_000
DIGEST_BYTES = 2048 * MIB

_CHUNK = MIB


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


def large_tree_digest(
    folder: Path, max_names: int = DIGEST_NAMES, max_bytes: int = DIGEST_BYTES
) -> str | None:
    """Return the digest of what `take_tree` would take without its limits; None: too much to read.

    All content is read each time. No time stamp is trusted: what is written through a mapping into
    memory changes none on a tmpfs, and the agent, whose edits are counted by this, could do that.
    Of a sparse file only what takes room is read, and of a file with several names one.
    """
    owner = folder.lstat().st_uid
    known: dict[tuple[int, int], str] = {}
    found: list[Entry] = []
    left = max_bytes
    for number, item in enumerate(walk(folder, skip=is_cache)):
        if number >= max_names:
            return None
        if item.is_folder or _left_out(item, owner) is not None:
            continue
        file = (item.status.st_dev, item.status.st_ino)
        if file not in known:
            try:
                sha256, size = _content_digest(item, left)
            except OSError:
                continue  # cannot be read, as `take_tree` has it
            left -= size
            if left < 0:
                return None
            known[file] = sha256
        executable = bool(item.status.st_mode & stat.S_IXUSR)
        found.append(Entry(item.path, executable, known[file]))
    return tree_digest(found)


def _content_digest(item: Item, most: int) -> tuple[str, int]:
    """Return the SHA-256 of a file's bytes and how many were read; it ends where they pass `most`.

    Of a large file with holes it is that of its length, and of place and bytes of all between them.

    Raises:
        OSError: it cannot be read.
    """
    with os.fdopen(open_file(item.name, item.folder), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        summed, read = hashlib.sha256(), 0
        parts = [(0, status.st_size)]
        if status.st_size > _CHUNK and status.st_blocks * 512 < status.st_size:
            parts = list(_filled(file.fileno(), status.st_size))
            summed.update(canonical_json([status.st_size, parts]))
        for start, end in parts:
            place = start
            while place < end and (
                data := os.pread(file.fileno(), min(_CHUNK, end - place), place)
            ):
                summed.update(data)
                place, read = place + len(data), read + len(data)
                if read > most:
                    return "", read
        return summed.hexdigest(), read


def _filled(file: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where a file with holes holds something."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole comes
                return
            raise
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end


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
