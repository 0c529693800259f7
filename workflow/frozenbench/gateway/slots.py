"""How many requests may be at an endpoint at one time, over all cells of this machine."""

from __future__ import annotations

import fcntl
import os
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from frozenbench.adapters.contract import Cell
from frozenbench.canonical import digest
from frozenbench.sandbox.folders import base_folder, private_folder

#: How often a place is looked for, s.
_EVERY = 0.02


@contextmanager
def slot(cell: Cell) -> Iterator[None]:
    """Hold one of the endpoint's `max_concurrency` places; wait until one is free.

    A place is a locked file, so a killed holder gives it back. It is held for one try of one request:
    whoever holds it waits for the network alone, which has an end, and for no other lock. So
    nobody can wait for it for ever who holds the lock of a record key. Without a limit nothing is
    held.
    """
    connection = cell.connection.get("endpoint", {})
    most = connection.get("max_concurrency")
    if most is None:
        yield
        return
    place = _taken(places(cell.sheet["endpoint"], connection), int(most))
    try:
        yield
    finally:
        fcntl.flock(place, fcntl.LOCK_UN)  # a child that is about to start holds it too
        os.close(place)


def places(endpoint: Mapping[str, Any], connection: Mapping[str, Any]) -> Path:
    """Return the folder with the places of an endpoint: its id and where it answers.

    Models of one service share them, and so do other studies of this user on this machine.
    """
    at = connection.get("base_url") or endpoint.get("weights_sha256")
    name = digest([endpoint.get("id"), at])[:16]
    return private_folder(private_folder(base_folder() / "places") / name)


def _taken(folder: Path, most: int) -> int:
    """Return the descriptor of a place that is ours now."""
    while True:
        first = random.randrange(most)
        for number in range(most):
            path = folder / str((first + number) % most)
            place = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return place
            except BlockingIOError:
                os.close(place)
            except BaseException:
                os.close(place)
                raise
        time.sleep(_EVERY)
