"""What a store holds, read once: as it would be found by reading all of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput
from frozenbench.gateway import record_index
from frozenbench.gateway.record import Entry, Store
from frozenbench.gateway.record_index import INDEX, indexed, indexed_entry
from record_entries import entry


def answer(number: int) -> dict[str, Any]:
    usage = {"prompt_tokens": number, "completion_tokens": 1}
    return {"choices": [{"message": {"content": "hi"}}], "usage": usage}


WIRES = {entry().material["endpoint"]: "openai-chat"}


class Counting(Store):
    """A store that tells how many entries were read."""

    read = 0

    def get(self, key: str) -> Entry | None:
        type(self).read += 1
        return super().get(key)


@pytest.fixture
def store(tmp_path: Path) -> Counting:
    Counting.read = 0
    found = Counting(tmp_path / "responses")
    for number in range(5):
        found.put(entry(response=answer(number), occurrence=number))
    return found


def plainly(store: Store, wires: Any = WIRES) -> list[Any]:
    """Return what reading all gives, without what only the index knows."""
    keys = store.keys()
    read = [Store(store.root).get(key) for key in keys]
    return [told(indexed_entry(one, wires)) for one in read if one is not None]


def told(line: Any) -> tuple[Any, ...]:
    return (line.key, line.endpoint, line.task, line.repeat, line.salt, line.tokens)


def test_each_response_is_read_once(store: Counting) -> None:
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 5
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 5, "nothing is new"
    store.put(entry(occurrence=9))
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 6


def test_tokens_are_read_for_endpoints_that_are_asked_for(store: Counting) -> None:
    assert {line.tokens for line in indexed(store, {})} == {None}
    assert {line.tokens for line in indexed(store, {})} == {None}
    assert store.read == 5
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 10
    assert list(map(told, indexed(store, {}))) == plainly(store), "what is known stays"


def test_what_was_removed_or_written_anew_is_seen(store: Counting) -> None:
    indexed(store, WIRES)
    first, second, *_ = store.keys()
    store.path(first).unlink()
    os.utime(store.path(second), ns=(1, 1))
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 6


@pytest.mark.parametrize("text", [b"", b"{", b"[]\n", b"7\n", b'{"key": 1}\n', b"\xff\n"])
def test_an_index_that_is_not_whole_is_made_anew(store: Counting, text: bytes) -> None:
    indexed(store, WIRES)
    (store.root / INDEX).write_bytes(text)
    assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 10


def test_a_response_that_is_none_is_told(store: Counting) -> None:
    indexed(store, WIRES)
    store.path(store.keys()[0]).write_text("{}")
    with pytest.raises(BadInput, match="cure: "):
        indexed(store, WIRES)


def test_a_store_that_cannot_be_written_to_is_read_each_time(
    store: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(record_index, "write_atomic", refuse)
    for _ in range(2):
        assert list(map(told, indexed(store, WIRES))) == plainly(store)
    assert store.read == 10


def test_no_store_is_an_empty_one(tmp_path: Path) -> None:
    assert indexed(Store(tmp_path / "responses"), WIRES) == []
    assert not (tmp_path / "responses").exists()
