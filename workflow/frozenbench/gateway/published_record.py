"""A published record: the responses of an experiment in one compact, reproducible file.

`records/<name>.jsonl.gz`, canonical JSON lines: a header; the entries, sorted by key; the fallen
clocks, sorted by run key. The same content gives the same bytes: no time and no name in the gzip
header. Response bodies are kept whole: a digest or a replay may need any field of them.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, Incomplete, canonical_json, write_atomic
from frozenbench.gateway.record import (
    Entry,
    Store,
    clock_path,
    is_event,
    parse_entry,
    read_clock,
    write_clock,
)

FORMAT = 1
_HEX64 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Record:
    """What a published record holds: sorted entries, and run key -> event of a fallen clock."""

    entries: tuple[Entry, ...] = ()
    clocks: tuple[tuple[str, int], ...] = ()

    def header(self) -> dict[str, Any]:
        """Return the first line: counts, dates, machines and models; dates are None if empty."""
        dates = sorted(entry.date for entry in self.entries)
        return {
            "format": FORMAT,
            "responses": len(self.entries),
            "clocks": len(self.clocks),
            "first_date": dates[0] if dates else None,
            "last_date": dates[-1] if dates else None,
            "machine_classes": _distinct(entry.machine_class for entry in self.entries),
            "models": _distinct(entry.model for entry in self.entries),
        }


@dataclass(frozen=True)
class Unpacked:
    """What came of unpacking a record into a store.

    Attributes:
        record: what the file holds.
        added: number of entries that the store did not have.
        differing: keys under which the store has another answer; the store's were kept.
    """

    record: Record
    added: int
    differing: tuple[str, ...]


def _distinct(values: Iterable[str | None]) -> list[str]:
    return sorted({value for value in values if value is not None})


def record_bytes(record: Record) -> bytes:
    """Return the bytes of a record file."""
    lines: list[Mapping[str, Any]] = [
        record.header(),
        *(entry.to_json() for entry in sorted(record.entries, key=lambda entry: entry.key)),
        *({"run_key": run_key, "event": event} for run_key, event in sorted(record.clocks)),
    ]
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as handle:
        for line in lines:
            handle.write(canonical_json(line) + b"\n")
    return packed.getvalue()


def export_record(store: Store, keys: Iterable[str], clocks: Iterable[str], path: Path) -> Record:
    """Write the entries of `keys` and the fallen clocks among the run keys `clocks` to `path`.

    Raises:
        Incomplete: the store does not hold one of the keys.
        BadInput: an entry of the store is damaged.
    """
    entries: list[Entry] = []
    for key in sorted(set(keys)):
        entry = store.get(key)
        if entry is None:
            raise Incomplete(
                f"responses: {key}: is not in the store; cure: run the experiment, then export"
            )
        entries.append(entry)
    events = [(run_key, read_clock(store.root, run_key)) for run_key in sorted(set(clocks))]
    record = Record(
        tuple(entries), tuple((name, event) for name, event in events if event is not None)
    )
    write_atomic(path, record_bytes(record))
    return record


def read_record(path: Path) -> Record:
    """Read a record; one that is not there is empty.

    Raises:
        BadInput: names the file and, where it is one line, the line.
    """
    try:
        packed = path.read_bytes()
    except FileNotFoundError:
        return Record()
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read ({error.strerror}); cure: make it readable"
        ) from None
    try:
        text = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path}: is not a whole gzip file ({error}); cure: {_CURE}") from None
    lines = text.split(b"\n")
    if lines.pop() != b"":
        raise BadInput(f"{path}: line {len(lines) + 1}: is cut off; cure: {_CURE}")
    values = [_line(line, f"{path}: line {number}") for number, line in enumerate(lines, start=1)]
    return _assemble(values, path)


_CURE = "restore the file from where it was published, or export it again"


def _line(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{where}: is not JSON ({error}); cure: {_CURE}") from None
    if not isinstance(value, dict):
        raise BadInput(f"{where}: holds no mapping; cure: {_CURE}")
    return value


def _assemble(values: list[dict[str, Any]], path: Path) -> Record:
    if not values or values[0].get("format") != FORMAT:
        seen = values[0].get("format") if values else None
        raise BadInput(
            f"{path}: line 1: format: is {seen!r}; cure: a record of format {FORMAT} "
            "(`frozenbench record export` writes one)"
        )
    entries: list[Entry] = []
    clocks: list[tuple[str, int]] = []
    for number, value in enumerate(values[1:], start=2):
        where = f"{path}: line {number}"
        if "run_key" in value:
            clocks.append(_clock(value, where))
        else:
            entries.append(parse_entry(value, where))
    _check_order([entry.key for entry in entries], [name for name, _ in clocks], path)
    record = Record(tuple(entries), tuple(clocks))
    if (header := record.header()) != values[0]:
        wrong = next(name for name in header if header[name] != values[0].get(name, ""))
        raise BadInput(
            f"{path}: line 1: {wrong}: says {values[0].get(wrong)!r}, the lines below say "
            f"{header[wrong]!r}; cure: {_CURE}"
        )
    return record


def _clock(value: Mapping[str, Any], where: str) -> tuple[str, int]:
    run_key, event = value["run_key"], value.get("event")
    if set(value) != {"run_key", "event"} or not is_event(event):
        raise BadInput(f"{where}: is no fallen clock; cure: {_CURE}")
    if not isinstance(run_key, str) or _HEX64.fullmatch(run_key) is None:
        raise BadInput(f"{where}: run_key: is {str(run_key)[:80]!r}; cure: {_CURE}")
    assert isinstance(event, int)
    return run_key, event


def _check_order(keys: list[str], run_keys: list[str], path: Path) -> None:
    for names in (keys, run_keys):
        for before, after in itertools.pairwise(names):
            if before >= after:
                what = "stands twice" if before == after else "stands out of order"
                raise BadInput(f"{path}: {after}: {what}; cure: {_CURE}")


def unpack_record(path: Path, store: Store) -> Unpacked:
    """Lay a record into a store; what the store already holds stays, also where it differs.

    Raises:
        BadInput: the record is broken (then nothing was unpacked), or a stored entry is.
    """
    record = read_record(path)
    added = 0
    differing: list[str] = []
    for entry in record.entries:
        kept = store.get(entry.key)
        if kept is None:
            with store.lock(entry.key):
                kept = store.put(entry, durable=False)
            added += kept is entry
        if kept is not entry and kept != entry:
            differing.append(entry.key)
    for run_key, event in record.clocks:
        if not clock_path(store.root, run_key).exists():
            write_clock(store.root, run_key, event)
    return Unpacked(record, added, tuple(differing))
