"""Replay where a key is not in the record: the answer of the same place in the conversation.

An agent may put into a request what no deny-list knows. Then the answer that the record holds at
the same ordinal of the same conversation is given, and the difference is told, byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from frozenbench.canonical import canonical_json, digest
from frozenbench.gateway.record import Entry, Store
from frozenbench.gateway.wires import format_of

#: How much of two requests is shown around the first byte that differs.
_SHOWN = 60


@dataclass(frozen=True)
class Drift:
    """A request that is not in the record, and the recorded one whose answer it was given.

    Attributes:
        key: the record key that was looked up.
        recorded_key: that of the entry which was served.
        ordinal: answers of a model that the request holds.
        offset: first byte of the canonical request that differs.
        asked, recorded: both requests around it.
        bytes: bytes between the first and the last that differ, in the longer one.
    """

    key: str
    recorded_key: str
    ordinal: int
    offset: int
    asked: str
    recorded: str
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in trace and run.json."""
        return asdict(self)

    def told(self) -> str:
        """Return one line for the log."""
        return (
            f"drift: request {self.ordinal} of a conversation differs from the record from byte "
            f"{self.offset} on ({self.bytes} bytes): asked {self.asked!r}, recorded "
            f"{self.recorded!r}"
        )


def nearest(store: Store, material: Mapping[str, Any], wire: str) -> tuple[Entry, Drift] | None:
    """Return the entry at the same ordinal of the same cell's conversation, and how it differs.

    Where several conversations of the cell have that ordinal, the one with the same opening is
    taken, then the request that has most bytes in common.
    """
    asked = format_of(wire).asked(material["request"])
    mine = canonical_json(material["request"])
    best: tuple[tuple[bool, bool, int], Entry, bytes] | None = None
    for entry in _of_the_cell(store, material):
        request = entry.material["request"]
        other = format_of(wire).asked(request)
        if other.turns != asked.turns or other.stream != asked.stream:
            continue
        theirs = canonical_json(request)
        rank = (
            other.opening == asked.opening,
            entry.material["occurrence"] == material["occurrence"],
            -_span(mine, theirs)[1],
        )
        if best is None or rank > best[0]:
            best = (rank, entry, theirs)
    if best is None:
        return None
    _, entry, theirs = best
    offset, length = _span(mine, theirs)
    return entry, Drift(
        key=digest(material),
        recorded_key=entry.key,
        ordinal=asked.turns,
        offset=offset,
        asked=_around(mine, offset),
        recorded=_around(theirs, offset),
        bytes=length,
    )


def _of_the_cell(store: Store, material: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the entries that differ from a key's material in request and occurrence alone."""
    due = _cell_of(material)
    names = store.keys()
    for key in names:
        entry = store.get(key)
        if entry is not None and _cell_of(entry.material) == due:
            yield entry


def _cell_of(material: Mapping[str, Any]) -> dict[str, Any]:
    return {name: it for name, it in material.items() if name not in ("request", "occurrence")}


def _span(one: bytes, two: bytes) -> tuple[int, int]:
    """Return the first differing byte, and how many lie between it and the last, in the longer."""
    head = _shared(one, two)
    most = min(len(one), len(two)) - head
    tail = _shared(one[::-1][:most], two[::-1][:most])
    return head, max(len(one), len(two)) - head - tail


def _shared(one: bytes, two: bytes) -> int:
    """Return how many bytes two texts begin with alike."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == two[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _around(data: bytes, offset: int) -> str:
    begin = max(0, offset - _SHOWN // 3)
    return data[begin : offset + _SHOWN].decode("utf-8", "replace")
