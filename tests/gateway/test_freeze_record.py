from __future__ import annotations

import json
from pathlib import Path

import pytest
from frozenbench.canonical import BadInput, digest, sha256_file
from frozenbench.freeze_record import freeze_record
from frozenbench.gateway.published_record import Record, record_bytes
from frozenbench.gateway.record import Store
from frozenbench.seal import sealed
from record_entries import entry

ENTRIES = tuple(sorted((entry(occurrence=n) for n in range(3)), key=lambda made: made.key))


def test_summary_and_store(tmp_path: Path) -> None:
    path, store, out = tmp_path / "r.jsonl.gz", tmp_path / "store", tmp_path / "out" / "r.json"
    path.write_bytes(record_bytes(Record(ENTRIES, (("a" * 64, 2),))))
    freeze_record(path, store, out)
    keys = [made.key for made in ENTRIES]
    assert Store(store).keys() == keys
    summary = {
        "sha256": sha256_file(path),
        "responses": 3,
        "clocks": 1,
        "first_date": "2026-11-30",
        "last_date": "2026-11-30",
        "machine_classes": ["x86_64-AuthenticAMD-25-1"],
        "models": ["m"],
        "keys": keys,
        "keys_sha256": digest(keys),
    }
    assert json.loads(out.read_text()) == sealed(summary)
    first = out.read_bytes()
    freeze_record(path, store, out)
    assert out.read_bytes() == first


@pytest.mark.parametrize("named", [True, False])
def test_no_record(tmp_path: Path, named: bool) -> None:
    out = tmp_path / "out.json"
    freeze_record(tmp_path / "absent.jsonl.gz" if named else None, tmp_path / "store", out)
    found = json.loads(out.read_text())
    assert (found["sha256"], found["responses"], found["first_date"]) == (None, 0, None)
    assert found["keys_sha256"] == digest([])


def test_what_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, store = tmp_path / "r.jsonl.gz", Store(tmp_path / "store")
    path.write_bytes(record_bytes(Record(ENTRIES)))
    own = entry(occurrence=1, response={"choices": ["another"]})
    with store.lock(own.key):
        store.put(own)
    freeze_record(path, store.root, tmp_path / "out.json")
    told = capsys.readouterr().err
    assert "1 response(s) differ" in told
    assert own.key in told
    assert json.loads((tmp_path / "out.json").read_text())["responses"] == 3


def test_a_broken_record_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(b"no record")
    with pytest.raises(BadInput):
        freeze_record(path, tmp_path / "store", tmp_path / "out.json")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["r.jsonl.gz"]
