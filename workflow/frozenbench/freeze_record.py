"""Rule freeze_record: lay a published record into the store and write what it holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from frozenbench.canonical import digest, sha256_file, write_json
from frozenbench.gateway.published_record import Record, Unpacked, unpack_record
from frozenbench.gateway.record import Store
from frozenbench.seal import sealed


def freeze_record(record: Path | None, store: Path, out: Path) -> Unpacked:
    """Unpack `record` into the folder `store` and write its summary to `out`.

    `out` holds `sha256` (of the file; null where there is none), `responses`, `clocks`,
    `first_date`, `last_date`, `machine_classes`, `models`, `keys` (sorted record keys) and
    `keys_sha256` (their digest), sealed. A record that is named and not there counts as empty.
    Doing it twice changes nothing.

    Raises:
        BadInput: the record is broken; the store and `out` are then as before.
    """
    named = record is not None and record.exists()
    unpacked = (
        unpack_record(record, Store(store))
        if record is not None and named
        else Unpacked(Record(), 0, ())
    )
    if unpacked.differing:
        print(
            f"{record}: {len(unpacked.differing)} response(s) differ from what the store already "
            f"holds (the first: {unpacked.differing[0]}); the store's were kept",
            file=sys.stderr,
        )
    sha256 = sha256_file(record) if record is not None and named else None
    write_json(out, sealed(summary(unpacked.record, sha256)))
    return unpacked


def summary(record: Record, sha256: str | None) -> dict[str, Any]:
    """Return what page and figure say of a record."""
    found = record.header()
    del found["format"]
    keys = [entry.key for entry in record.entries]
    return {"sha256": sha256, **found, "keys": keys, "keys_sha256": digest(keys)}
