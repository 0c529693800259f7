"""How many requests are at an endpoint at one time: over processes, after a kill, without deadlock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters.contract import Cell
from frozenbench.gateway.exchange import ask
from frozenbench.gateway.slots import places, slot
from frozenbench.sandbox.folders import base_folder
from scripted_endpoint import MODEL, model_cell, says, scripted, slow

REQUEST = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}], "seed": 3}

HOLDS = """
import sys, time
from frozenbench.adapters.contract import Cell
from frozenbench.gateway.slots import slot
from types import SimpleNamespace
cell = SimpleNamespace(sheet={"endpoint": {"id": sys.argv[1]}},
                       connection={"endpoint": {"base_url": "x", "max_concurrency": int(sys.argv[2])}})
print("waits", flush=True)
with slot(cell):
    print("holds", flush=True)
    sys.stdin.readline()
print("gave", flush=True)
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[str]:
    """A name of an endpoint that no other test and no other run has."""
    name = f"{tmp_path}"
    yield name
    folder = places({"id": name}, {"base_url": "x"})
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def holder(name: str, most: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", HOLDS, name, str(most)]
    started = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert line(started) == "waits"
    return started


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def of(name: str, most: int, tmp_path: Path) -> Cell:
    cell = model_cell(
        tmp_path, "x", connection={"endpoint": {"base_url": "x", "max_concurrency": most}}
    )
    cell.sheet["endpoint"]["id"] = name  # type: ignore[index]
    return cell


def test_a_second_process_waits_until_the_first_gives_its_place_back(own: str) -> None:
    first = holder(own, 1)
    assert line(first) == "holds"
    second = holder(own, 1)
    time.sleep(0.3)
    assert first.poll() is None
    first.stdin.write("\n")  # type: ignore[union-attr]
    first.stdin.flush()  # type: ignore[union-attr]
    assert line(first) == "gave"
    assert line(second) == "holds"
    end(first, second)


def test_a_killed_holder_gives_its_place_back(own: str, tmp_path: Path) -> None:
    holders = [holder(own, 2) for _ in range(2)]
    assert [line(item) for item in holders] == ["holds", "holds"]
    waiting = holder(own, 2)
    os.kill(holders[0].pid, signal.SIGKILL)
    begun = time.monotonic()
    assert line(waiting) == "holds"
    assert time.monotonic() - begun < 5
    end(*holders, waiting)
    with slot(of(own, 1, tmp_path)):
        pass


def test_who_shares_places(tmp_path: Path) -> None:
    """Models of one service do; another address, or another name for who answers, has its own."""
    service = {"id": "service", "model": "one"}
    at = {"base_url": "https://a.example"}
    mine = places(service, at)
    assert mine == places({**service, "model": "two"}, at)
    assert mine != places(service, {"base_url": "https://b.example"})
    assert mine != places({**service, "id": "other"}, at)
    assert base_folder() in mine.parents, "not in a study's store: all studies of this machine"
    for folder in (mine, places(service, {"base_url": "https://b.example"})):
        folder.rmdir()
    places({**service, "id": "other"}, at).rmdir()


def test_cells_wait_off_their_clocks_and_the_same_question_is_asked_once(
    own: str, tmp_path: Path
) -> None:
    """Twelve cells, four of each request, one place: three answers, one after the other."""
    at_once: list[int] = [0, 0]

    def counted(handler: Any, body: Any) -> None:
        with handler.server.endpoint.guard:
            at_once[0] += 1
            at_once[1] = max(at_once)
        slow(0.4, says("x"))(handler, body)
        with handler.server.endpoint.guard:
            at_once[0] -= 1

    with scripted(always=counted) as endpoint:

        def work(number: int) -> tuple[float, bool]:
            where = {"base_url": endpoint.root, "max_concurrency": 1}
            cell = model_cell(tmp_path, endpoint.root, connection={"endpoint": where})
            cell.clock.start()  # type: ignore[attr-defined]
            _, served, _ = ask(cell, {**REQUEST, "seed": number % 3}, 0)
            return cell.clock.elapsed() - served.seconds, served.recorded

        begun = time.monotonic()
        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(work, range(12)))
        passed = time.monotonic() - begun
        folder = places({"id": "scripted"}, {"base_url": endpoint.root})
    assert len(endpoint.requests) == 3
    assert sorted(recorded for _, recorded in found) == [False] * 3 + [True] * 9
    assert at_once[1] == 1
    assert passed >= 1.2
    assert all(0 <= waited < 0.4 for waited, _ in found), "waiting is on nobody's clock"
    assert folder.is_dir()


def test_without_a_limit_nothing_is_held(tmp_path: Path) -> None:
    cell = model_cell(tmp_path, "x")
    with slot(cell), slot(cell):
        pass
