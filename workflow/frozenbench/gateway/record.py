"""The record: every model response, stored once under what it is an answer to.

    <store>/<2 hex>/<record key>.json     one entry
    <store>/clocks/<run key>.json         the event at which a run's clock fell

An entry is written by whoever holds the key's lock, by a temporary file and a hard link, so that a
key never has two values, whatever is killed when. Names that begin with a dot are locks and
unfinished files; no reader looks at them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench.canonical import BadInput, canonical_json, digest, read_json, write_json

#: Top-level fields of a request that say how an answer is filed, attributed or counted, not what
#: it is: they are in no record key. `stream` is in it: a stream is no answer to who asks for a body.
UNKEYED_FIELDS = frozenset(
    {
        "stream_options",
        "user",
        "metadata",
        "client_metadata",
        "prompt_cache_key",
        "safety_identifier",
        "store",
    }
)
_ENTRY_NAME = re.compile(r"[0-9a-f]{64}\.json")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def canonical_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request asks: all of it less UNKEYED_FIELDS and the ids of `input` items."""
    asked = {name: value for name, value in request.items() if name not in UNKEYED_FIELDS}
    if isinstance(asked.get("input"), list):
        asked["input"] = [_without_id(item) for item in asked["input"]]
    return asked


def _without_id(item: Any) -> Any:
    """Return an item of a responses request without the name that somebody gave it."""
    if not isinstance(item, dict) or item.get("type") == "item_reference":
        return item  # of a reference the id is what it says
    return {name: value for name, value in item.items() if name != "id"}


def key_material(
    *,
    endpoint: str,
    task: str,
    repeat: int,
    salt: str | None,
    request: Mapping[str, Any],
    occurrence: int,
    caps: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return what a record key is the digest of.

    Args:
        endpoint: digest of the endpoint's key fields.
        task: task digest.
        repeat: repeat of the cell, from 0.
        salt: the agent's salt or None.
        request: the whole request body.
        occurrence: how often the cell had this canonical request answered before, from 0.
        caps: effective caps by meter, under the policy `independent` alone.
    """
    material: dict[str, Any] = {
        "endpoint": endpoint,
        "task": task,
        "repeat": repeat,
        "salt": salt,
        "request": canonical_request(request),
        "occurrence": occurrence,
    }
    if caps is not None:
        material["caps"] = {meter: _plain(value) for meter, value in caps.items()}
    return material


def _plain(value: float) -> float:
    """300 and 300.0 are one cap and must be one key."""
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True)
class Entry:
    """One stored response; who asked for it is not in it.

    Attributes:
        key: SHA-256 of the canonical JSON of `material`.
        material: what was asked (see `key_material`).
        response: the whole response body.
        seconds: how long the endpoint took, failed tries and waiting left out.
        date: UTC day of the answer, YYYY-MM-DD.
        machine_class: processor class of the machine that answered; None: not ours to know.
        model: the model name in the response, or None.
    """

    key: str
    material: Mapping[str, Any]
    response: Mapping[str, Any]
    seconds: float
    date: str
    machine_class: str | None
    model: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the entry as it stands on disk."""
        return {
            "key": self.key,
            "material": dict(self.material),
            "response": dict(self.response),
            "seconds": self.seconds,
            "date": self.date,
            "machine_class": self.machine_class,
            "model": self.model,
        }


def parse_entry(value: Any, where: str) -> Entry:
    """Make an entry of JSON and check that its key is that of its material.

    Raises:
        BadInput: it is not of an entry's form, or its key belongs to another request.
    """
    if not isinstance(value, dict):
        raise BadInput(f"{where}: is no entry of a record; cure: {_CURE}")
    fields = Entry.__dataclass_fields__.keys()
    for name in [*(fields - value.keys()), *(value.keys() - fields)]:
        kind = "is missing" if name in fields else "is no field of an entry"
        raise BadInput(f"{where}: {name}: {kind}; cure: {_CURE}")
    seconds = value["seconds"]
    sound = {
        "material": isinstance(value["material"], dict),
        "response": isinstance(value["response"], dict),
        "seconds": isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and 0 <= seconds < float("inf"),
        "date": isinstance(value["date"], str) and _DATE.fullmatch(value["date"]) is not None,
        "machine_class": isinstance(value["machine_class"], str | None),
        "model": isinstance(value["model"], str | None),
    }
    for name, good in sound.items():
        if not good:
            raise BadInput(f"{where}: {name}: is {str(value[name])[:60]!r}; cure: {_CURE}")
    if digest(value["material"]) != value["key"]:
        raise BadInput(
            f"{where}: key: {str(value['key'])[:64]} is not the key of what was asked "
            f"({digest(value['material'])}): the entry was edited; cure: {_CURE}"
        )
    return Entry(**value)


_CURE = "remove it and ask again, or restore it from the record that it came from"


@dataclass(frozen=True)
class Store:
    """The record store below `root`; the folder is made when something is stored."""

    root: Path

    def path(self, key: str) -> Path:
        """Return where the entry of `key` stands or would stand."""
        return self.root / key[:2] / f"{key}.json"

    def get(self, key: str) -> Entry | None:
        """Return the entry of `key`, or None.

        Raises:
            BadInput: a file is there and is no sound entry of this key.
        """
        path = self.path(key)
        where = f"{path.parent.name}/{path.name}"
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise BadInput(f"{where}: is not JSON ({error}); cure: {_CURE}") from None
        entry = parse_entry(value, where)
        if entry.key != key:
            raise BadInput(f"{where}: key: holds the entry of {entry.key}; cure: {_CURE}")
        return entry

    def keys(self) -> list[str]:
        """Return the keys of all entries, sorted."""
        found = self.root.glob("[0-9a-f][0-9a-f]/*.json")
        return sorted(path.stem for path in found if _ENTRY_NAME.fullmatch(path.name))

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold the key's lock; another asker waits here. A killed holder's lock is released."""
        path = self.root / key[:2] / f".{key}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _lock_file(path)
        try:
            yield
        finally:
            # Removed while it is held: whoever waits for it sees that and takes a new one.
            path.unlink(missing_ok=True)
            os.close(descriptor)

    def put(self, entry: Entry, *, durable: bool = True) -> Entry:
        """Store an entry and return what the key holds then: an earlier entry stays.

        The caller holds `lock(entry.key)`. `durable` waits for the disk: an answer may have cost
        money; what is unpacked from a file has not.
        """
        path = self.path(entry.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        # One name for the temporary file: what a killed writer left is overwritten by the next.
        unfinished = path.parent / f".{entry.key}.new"
        with unfinished.open("wb") as handle:
            handle.write(canonical_json(entry.to_json()) + b"\n")
            if durable:
                handle.flush()
                os.fsync(handle.fileno())
        try:
            os.link(unfinished, path)
        except FileExistsError:
            kept = self.get(entry.key)
            assert kept is not None
            return kept
        except OSError as error:
            if error.errno not in _NO_LINKS or path.exists():
                raise
            unfinished.rename(path)
        finally:
            unfinished.unlink(missing_ok=True)
        return entry


def clock_path(store: Path, run_key: str) -> Path:
    """Return where the event of a run's fallen clock is written, below the folder `store`."""
    return store / "clocks" / f"{run_key}.json"


def read_clock(store: Path, run_key: str) -> int | None:
    """Return the event at which the clock of a run fell, or None if it did not.

    Raises:
        BadInput: the file is there and holds no event number.
    """
    path = clock_path(store, run_key)
    if not path.exists():
        return None
    value = read_json(path)
    event = value.get("event") if isinstance(value, dict) else None
    if not is_event(event):
        raise BadInput(f"{path}: event: is {event!r}; cure: remove the file and run the cell again")
    assert isinstance(event, int)
    return event


def write_clock(store: Path, run_key: str, event: int) -> None:
    """Note the event at which the clock of a run fell."""
    write_json(clock_path(store, run_key), {"event": event})


def is_event(value: Any) -> bool:
    """Tell whether `value` is the number of an event: an integer >= 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _lock_file(path: Path) -> int:
    """Open and lock a file that others may remove while we wait for it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
