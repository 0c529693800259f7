"""The nearest recorded answer where a key is not in the record, and how the request differs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from frozenbench.canonical import canonical_json, digest
from frozenbench.gateway.record import Entry, Store, key_material
from frozenbench.gateway.replay import nearest
from hypothesis import given
from record_entries import TEXT
from record_entries import entry as made

CHAT = "openai-chat"


def request(opening: str, *answers: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": opening}]
    for answer in answers:
        messages += [{"role": "assistant", "content": "a"}, {"role": "user", "content": answer}]
    return {"messages": messages, **more}


def material(asked: dict[str, Any], **changes: Any) -> dict[str, Any]:
    given = {"endpoint": "e" * 64, "task": "t" * 64, "repeat": 0, "salt": None, "occurrence": 0}
    return key_material(**{**given, "request": asked, **changes})


def stored(folder: Path, *entries: Entry) -> Store:
    store = Store(folder)
    for entry in entries:
        store.put(entry, durable=False)
    return store


def test_the_same_ordinal_of_the_same_conversation(tmp_path: Path) -> None:
    entries = [made(request(who, *["x"] * turns)) for who in ("one", "two") for turns in range(3)]
    store = stored(tmp_path, *entries)
    found = nearest(store, material(request("two", "y", "x")), CHAT)
    assert found is not None
    entry, drift = found
    assert entry == entries[5]
    assert (drift.ordinal, drift.recorded_key) == (2, entry.key)
    assert drift.key == digest(material(request("two", "y", "x")))
    assert drift.bytes == 1
    assert '"y"' in drift.asked
    assert '"x"' in drift.recorded
    assert f"byte {drift.offset}" in drift.told()


def test_an_opening_that_drifts_is_found_by_what_it_has_in_common(tmp_path: Path) -> None:
    long = "The whole of the task. " * 9
    store = stored(tmp_path, made(request("A title?")), made(request(f"{long} at 12:01")))
    found = nearest(store, material(request(f"{long} at 13:55")), CHAT)
    assert found is not None
    assert "12:01" in found[1].recorded


def test_of_another_cell_nothing_is_taken(tmp_path: Path) -> None:
    store = stored(tmp_path, made(request("one")))
    for change in ({"repeat": 1}, {"salt": "s"}, {"task": "u" * 64}, {"caps": {"tokens": 1}}):
        assert nearest(store, material(request("two"), **change), CHAT) is None
    assert nearest(store, material(request("two", "more")), CHAT) is None
    assert nearest(store, material(request("two", stream=True)), CHAT) is None


@given(one=TEXT, two=TEXT)
def test_the_bytes_that_differ_are_named(one: str, two: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = stored(Path(folder), made(request(one)))
        found = nearest(store, material(request(two)), CHAT)
    assert found is not None
    drift = found[1]
    mine, theirs = canonical_json(request(two)), canonical_json(request(one))
    assert mine[: drift.offset] == theirs[: drift.offset]
    longer = max(mine, theirs, key=len)
    rest = len(longer) - drift.offset - drift.bytes
    assert rest >= 0
    assert mine[len(mine) - rest :] == theirs[len(theirs) - rest :]
    assert (drift.bytes == 0) is (one == two)
