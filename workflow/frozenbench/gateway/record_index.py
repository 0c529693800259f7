"""What the responses of a store are answers to, without reading each of them again.

    <store>/.index.jsonl    one line a response: a cache, made anew where it is not whole

A response is read when its file is new, or of another size or time than the index has; whether it is
what it was is for `frozenbench verify` to say, and nothing that decides is read from here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from frozenbench.canonical import canonical_json, write_atomic
from frozenbench.gateway.prices import use_of
from frozenbench.gateway.record import Entry, Store

INDEX = ".index.jsonl"

_FOLDER, _NAME = re.compile(r"[0-9a-f]{2}"), re.compile(r"([0-9a-f]{64})\.json")


@dataclass(frozen=True)
class Indexed:
    """One response, by its key.

    Attributes:
        endpoint, task, repeat, salt: what it answers (see `record.key_material`).
        tokens: that it reports; 0 where it does not, None where its wire format is not known.
        size, time: of its file, in bytes and ns; 0 where it has none of its own.
    """

    key: str
    endpoint: str
    task: str
    repeat: int
    salt: str | None
    tokens: int | None
    size: int = 0
    time: int = 0


def indexed_entry(entry: Entry, wires: Mapping[str, str]) -> Indexed:
    """Return an entry as the index has it; `wires`: endpoint digest -> wire format."""
    material = entry.material
    wire = wires.get(material["endpoint"])
    tokens = None if wire is None else use_of(wire, entry.response).total or 0
    where = material["endpoint"], material["task"], material["repeat"], material["salt"]
    return Indexed(entry.key, *where, tokens)


def indexed(store: Store, wires: Mapping[str, str]) -> list[Indexed]:
    """Return all responses of a store, sorted by key; what is new is read, and noted.

    Args:
        store: where they stand.
        wires: endpoint digest -> wire format, of the endpoints whose tokens are asked for.

    Raises:
        BadInput: a response that is read is no sound entry.
    """
    path = store.root / INDEX
    known = _read(path)
    found: list[Indexed] = []
    for key, size, time in _files(store.root):
        line = known.get(key)
        same = line is not None and (line.size, line.time) == (size, time)
        if line is None or not same or (line.tokens is None and line.endpoint in wires):
            entry = store.get(key)
            if entry is None:
                continue  # removed meanwhile
            line = replace(indexed_entry(entry, wires), size=size, time=time)
        found.append(line)
    if {line.key: line for line in found} != known:
        with suppress(OSError):  # a store that cannot be written to is read each time
            write_atomic(path, b"".join(canonical_json(asdict(line)) + b"\n" for line in found))
    return found


def _files(root: Path) -> Iterator[tuple[str, int, int]]:
    """Yield key, size and time of every response, sorted by key."""
    if not root.is_dir():
        return
    for folder in sorted(path for path in root.iterdir() if _FOLDER.fullmatch(path.name)):
        with os.scandir(folder) as items:
            names = {match[1]: item for item in items if (match := _NAME.fullmatch(item.name))}
            for key in sorted(names):
                with suppress(FileNotFoundError):
                    status = names[key].stat()
                    yield key, status.st_size, status.st_mtime_ns


def _read(path: Path) -> dict[str, Indexed]:
    try:
        lines = [Indexed(**json.loads(line)) for line in path.read_bytes().splitlines()]
    except (OSError, ValueError, TypeError):
        return {}  # absent, or not whole
    return {line.key: line for line in lines}
