from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput, Incomplete, digest
from frozenbench.gateway.published_record import (
    Record,
    export_record,
    read_record,
    record_bytes,
    unpack_record,
)
from frozenbench.gateway.record import Entry, Store, read_clock, write_clock
from hypothesis import given
from hypothesis import strategies as st
from record_entries import entries, entry

RECORDS = st.builds(
    lambda found, clocks: Record(
        tuple(sorted({e.key: e for e in found}.values(), key=lambda e: e.key)),
        tuple(sorted((digest(name), event) for name, event in clocks.items())),
    ),
    st.lists(entries(), max_size=5),
    st.dictionaries(st.integers(0, 9), st.integers(0, 99), max_size=3),
)


def filled(folder: Path, record: Record) -> Store:
    store = Store(folder)
    for made in record.entries:
        with store.lock(made.key):
            store.put(made, durable=False)
    for run_key, event in record.clocks:
        write_clock(folder, run_key, event)
    return store


@given(RECORDS)
def test_export_and_import(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    folder = tmp_path_factory.mktemp("record")
    store = filled(folder / "one", record)
    run_keys = [run_key for run_key, _ in record.clocks]
    path = folder / "r.jsonl.gz"
    assert export_record(store, store.keys(), [*run_keys, digest("never fell")], path) == record
    unpacked = unpack_record(path, Store(folder / "two"))
    assert (unpacked.record, unpacked.added, unpacked.differing) == (
        record,
        len(record.entries),
        (),
    )
    again = folder / "again.jsonl.gz"
    export_record(Store(folder / "two"), Store(folder / "two").keys(), run_keys, again)
    assert again.read_bytes() == path.read_bytes()
    assert [read_clock(folder / "two", name) for name in run_keys] == [e for _, e in record.clocks]
    assert unpack_record(path, Store(folder / "two")).added == 0


@given(RECORDS, st.randoms())
def test_the_order_of_what_is_exported_does_not_matter(
    record: Record, chance: random.Random
) -> None:
    shuffled = Record(
        tuple(chance.sample(record.entries, len(record.entries))),
        tuple(chance.sample(record.clocks, len(record.clocks))),
    )
    assert record_bytes(shuffled) == record_bytes(record)


def three() -> tuple[Entry, ...]:
    made = [
        entry(occurrence=0, date="2026-11-30", model="m", machine_class="b"),
        entry(occurrence=1, date="2026-10-02", model="m", machine_class="a"),
        entry(occurrence=2, date="2026-12-01", model=None, machine_class=None),
    ]
    return tuple(sorted(made, key=lambda e: e.key))


def test_the_header(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(record_bytes(Record(three(), (("a" * 64, 4),))))
    assert json.loads(gzip.decompress(path.read_bytes()).split(b"\n")[0]) == {
        "format": 1,
        "responses": 3,
        "clocks": 1,
        "first_date": "2026-10-02",
        "last_date": "2026-12-01",
        "machine_classes": ["a", "b"],
        "models": ["m"],
    }


def test_no_time_and_no_name_in_the_file() -> None:
    packed = record_bytes(Record(three()))
    assert packed[3] == 0  # no flag: no file name, no comment
    assert packed[4:8] == b"\0\0\0\0"


def test_a_key_that_is_not_in_the_store(tmp_path: Path) -> None:
    with pytest.raises(Incomplete, match=r"0000.* is not in the store; cure: "):
        export_record(Store(tmp_path), ["0" * 64], [], tmp_path / "r.jsonl.gz")
    assert not (tmp_path / "r.jsonl.gz").exists()


def test_a_record_that_is_not_there_is_empty(tmp_path: Path) -> None:
    unpacked = unpack_record(tmp_path / "none.jsonl.gz", Store(tmp_path / "store"))
    assert unpacked.record == Record()
    assert not (tmp_path / "store").exists()


def test_the_stores_own_answer_is_kept_and_told(tmp_path: Path) -> None:
    record = Record(three())
    own = entry(occurrence=1, response={"choices": ["another"]})
    store = filled(tmp_path / "store", Record((own,)))
    write_clock(store.root, "a" * 64, 1)
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(record_bytes(Record(record.entries, (("a" * 64, 4),))))
    unpacked = unpack_record(path, store)
    assert (unpacked.added, unpacked.differing) == (2, (own.key,))
    assert store.get(own.key) == own
    assert read_clock(store.root, "a" * 64) == 1


def rewritten(change: Callable[[list[dict[str, Any]]], Any]) -> bytes:
    lines = gzip.decompress(record_bytes(Record(three(), (("a" * 64, 4),)))).splitlines()
    values = [json.loads(line) for line in lines]
    change(values)
    return gzip.compress(b"".join(json.dumps(value).encode() + b"\n" for value in values))


BROKEN: dict[str, tuple[bytes, str]] = {
    "no gzip": (b"plain text\n", "is not a whole gzip file"),
    "cut gzip": (record_bytes(Record(three()))[:-20], "is not a whole gzip file"),
    "cut line": (gzip.compress(b'{"format": 1'), "line 1: is cut off"),
    "empty": (gzip.compress(b""), "line 1: is cut off|line 1: format"),
    "no JSON": (gzip.compress(b'{"format":1}\nnonsense\n'), "line 2: is not JSON"),
    "no object": (gzip.compress(b'{"format":1}\n[1]\n'), "line 2: holds no mapping"),
    "other format": (rewritten(lambda v: v[0].update(format=2)), "line 1: format: is 2"),
    "edited answer's key": (
        rewritten(lambda v: v[2]["material"].update(repeat=9)),
        "line 3: key: .* is not the key of what was asked",
    ),
    "missing line": (rewritten(lambda v: v.pop(1)), "line 1: responses: says 3, .* 2"),
    "two alike": (rewritten(lambda v: v.insert(2, v[1])), "stands twice"),
    "out of order": (rewritten(lambda v: v.insert(1, v.pop(2))), "stands out of order"),
    "event": (rewritten(lambda v: v[4].update(event=-4)), "line 5: is no fallen clock"),
    "run key": (rewritten(lambda v: v[4].update(run_key="../x")), "line 5: run_key: is"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_one_readable_error(tmp_path: Path, case: str) -> None:
    packed, told = BROKEN[case]
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(packed)
    with pytest.raises(BadInput, match=rf"broken\.jsonl\.gz: .*({told})"):
        unpack_record(path, Store(tmp_path / "store"))
    assert not (tmp_path / "store").exists()


def test_a_sound_record_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(rewritten(lambda values: None))
    assert read_record(path) == Record(three(), (("a" * 64, 4),))
