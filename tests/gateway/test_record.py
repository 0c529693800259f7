from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from frozenbench.canonical import BadInput, digest
from frozenbench.gateway.record import (
    UNKEYED_FIELDS,
    Store,
    canonical_request,
    key_material,
    read_clock,
    write_clock,
)
from hypothesis import given
from hypothesis import strategies as st
from record_entries import JSON, OBJECTS, TEXT, entries, entry

BASE: dict[str, Any] = {
    "endpoint": "e" * 64,
    "task": "t" * 64,
    "repeat": 0,
    "salt": None,
    "request": {"model": "m", "temperature": 0.8},
    "occurrence": 0,
}


def key(**changes: Any) -> str:
    return digest(key_material(**{**BASE, **changes}))


@given(OBJECTS, st.dictionaries(st.sampled_from(sorted(UNKEYED_FIELDS)), JSON))
def test_how_an_answer_is_delivered_is_in_no_key(
    asked: dict[str, Any], how: dict[str, Any]
) -> None:
    assert key(request={**asked, **how}) == key(request=canonical_request(asked))


@given(OBJECTS, TEXT.filter(lambda name: name not in UNKEYED_FIELDS), JSON)
def test_everything_else_of_a_request_is_in_the_key(
    asked: dict[str, Any], name: str, value: Any
) -> None:
    changed = {**asked, name: value}
    same = name in asked and json.dumps(asked[name]) == json.dumps(value)
    assert (key(request=changed) == key(request=asked)) == same


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "f" * 64},
        {"task": "u" * 64},
        {"repeat": 1},
        {"salt": "b"},
        {"occurrence": 1},
        {"caps": {"tool_calls": 1}},
    ],
)
def test_each_part_of_the_material_makes_another_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_a_cap_has_one_spelling() -> None:
    assert key(caps={"wall_clock": 300}) == key(caps={"wall_clock": 300.0})
    assert key(caps={"wall_clock": 300.5}) != key(caps={"wall_clock": 300})


@given(entries())
def test_what_is_stored_comes_back(tmp_path_factory: pytest.TempPathFactory, made: Any) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    with store.lock(made.key):
        store.put(made)
    assert store.get(made.key) == made
    assert store.keys() == [made.key]
    assert store.path(made.key).parent.name == made.key[:2]


def test_the_first_answer_stays(tmp_path: Path) -> None:
    store, first = Store(tmp_path), entry()
    second = entry(response={"choices": []})
    with store.lock(first.key):
        assert store.put(first) is first
        assert store.put(second) == first
    assert store.get(first.key) == first


def test_nothing_but_entries_is_left(tmp_path: Path) -> None:
    store, made = Store(tmp_path), entry()
    with store.lock(made.key):
        store.put(made)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{made.key}.json"]


def test_an_unknown_key_is_none(tmp_path: Path) -> None:
    assert Store(tmp_path / "absent").get("0" * 64) is None
    assert Store(tmp_path / "absent").keys() == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("material", {"request": "another"}),
        ("seconds", -1),
        ("seconds", True),
        ("date", "yesterday"),
        ("response", []),
        ("model", 3),
        ("extra", 1),
    ],
)
def test_an_edited_entry_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    store, made = Store(tmp_path), entry()
    with store.lock(made.key):
        store.put(made)
    path = store.path(made.key)
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(BadInput, match=rf"{made.key}\.json: (key|{field}): .*; cure: "):
        store.get(made.key)


def test_an_entry_under_another_name_is_refused(tmp_path: Path) -> None:
    store, made = Store(tmp_path), entry()
    with store.lock(made.key):
        store.put(made)
    other = "0" * 64
    store.path(other).parent.mkdir()
    store.path(made.key).rename(store.path(other))
    with pytest.raises(BadInput, match="holds the entry of"):
        store.get(other)


def test_half_an_entry_is_refused(tmp_path: Path) -> None:
    store, made = Store(tmp_path), entry()
    with store.lock(made.key):
        store.put(made)
    store.path(made.key).write_text('{"key": ')
    with pytest.raises(BadInput, match="is not JSON"):
        store.get(made.key)


def test_the_event_of_a_fallen_clock(tmp_path: Path) -> None:
    assert read_clock(tmp_path, "a" * 64) is None
    write_clock(tmp_path, "a" * 64, 0)
    write_clock(tmp_path, "b" * 64, 7)
    assert (read_clock(tmp_path, "a" * 64), read_clock(tmp_path, "b" * 64)) == (0, 7)
    assert Store(tmp_path).keys() == []


@pytest.mark.parametrize("content", ['{"event": -1}', '{"event": true}', '{"event": 1.5}', "[]"])
def test_a_clock_that_is_no_event_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "clocks").mkdir()
    (tmp_path / "clocks" / "k.json").write_text(content)
    with pytest.raises(BadInput, match=r"k\.json: event"):
        read_clock(tmp_path, "k")


HOLD = """
import sys, time
from pathlib import Path
from frozenbench.gateway.record import Store
with Store(Path(sys.argv[1])).lock("a" * 64):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_killed_asker_is_released(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    begun = time.monotonic()
    os.kill(holder.pid, signal.SIGKILL)
    with Store(tmp_path).lock("a" * 64):
        assert time.monotonic() - begun < 5
    holder.communicate()


ASK_ALL = """
import json, os, random, sys, time
from pathlib import Path
from frozenbench.canonical import digest
from frozenbench.gateway.record import Entry, Store
store, chance, seen = Store(Path(sys.argv[1])), random.Random(int(sys.argv[2])), {}
for number in chance.sample(range(20), 20):
    material = {"number": number}
    key = digest(material)
    with store.lock(key):
        entry = store.get(key)
        if entry is None:
            time.sleep(0.15)
            answer = {"by": os.getpid(), "chance": chance.random()}
            entry = store.put(
                Entry(key, material, answer, 0.03, "2026-11-30", None, None)
            )
    seen[key] = entry.response
print(json.dumps(seen))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_eight_askers_of_twenty_keys_five_killed(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    askers = [
        subprocess.Popen(
            [sys.executable, "-c", ASK_ALL, str(tmp_path), str(seed * 8 + number)],
            stdout=subprocess.PIPE,
        )
        for number in range(8)
    ]
    for asker in askers[:5]:
        time.sleep(chance.uniform(0.02, 0.08))
        asker.kill()
    seen = [json.loads(asker.communicate(timeout=30)[0]) for asker in askers[5:]]
    for asker in askers[:5]:
        asker.communicate()
    ends = [asker.returncode for asker in askers]
    assert ends[5:] == [0] * 3
    assert -9 in ends[:5]
    store = Store(tmp_path)
    found = [store.get(name) for name in store.keys()]  # noqa: SIM118 - no mapping
    kept = {entry.key: entry.response for entry in found if entry is not None}
    assert len(kept) == 20
    assert seen == [kept, kept, kept]
