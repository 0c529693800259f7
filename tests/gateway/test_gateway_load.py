"""The gateway under load: a thousand requests, eight at a time, against a fast endpoint."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frozenbench.adapters.contract import Cell
from frozenbench.canonical import tree_digest
from frozenbench.gateway import transport
from frozenbench.gateway.server import Reply, Request, Server
from frozenbench.run import meters as metering
from frozenbench.run.gateway_loop import GatewayLoop
from frozenbench.run.loop import Ended
from frozenbench.sandbox import Ended as Exited
from scripted_endpoint import MODEL, model_cell
from wire_endpoint import NOTHING, Says, whole

pytestmark = pytest.mark.slow
REQUESTS, AT_ONCE = 1000, 8
EXITED = Exited(0, None, False, None, b"", b"", 1.0)

#: An endpoint in a process of its own that answers at once, whatever it is asked.
FAST = """
import asyncio, sys
BODY = sys.argv[2].encode()
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
ANSWER = HEAD % len(BODY) + BODY

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = [line for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length")]
            await reader.readexactly(int(length[0].split(b":")[1]))
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
ANSWER = json.dumps(whole("openai-chat", Says((NOTHING,)), 0))


@contextmanager
def fast_endpoint(port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    argv = [sys.executable, "-c", FAST, str(port), ANSWER]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}", process
        finally:
            process.kill()


class Unix(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("gateway")
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


def request(number: int) -> bytes:
    history = [{"role": "user", "content": f"Question {number}. " + "All of it. " * 400}]
    tools = [{"type": "function", "function": {"name": f"tool{n}"}} for n in range(10)]
    return json.dumps({"model": MODEL, "messages": history, "tools": tools}).encode()


def load(path: Path, requests: int = REQUESTS) -> list[float]:
    """Send the requests from threads with a connection each; return how long each took, s."""
    took: list[float] = []
    numbers = iter(range(requests))
    guard = threading.Lock()

    def client() -> None:
        connection = Unix(path)
        while True:
            with guard:
                number = next(numbers, None)
            if number is None:
                return
            begun = time.perf_counter()
            connection.request("POST", "/v1/chat/completions", request(number))
            response = connection.getresponse()
            body = response.read()
            assert response.status == 200, body
            took.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=client) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


class Clients:
    """A program that is nothing but its requests, sent from this process."""

    def __init__(self, socket_path: Path, work: Callable[[Path], Any]) -> None:
        self.socket, self.work = socket_path, work
        self.result: Any = None
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        self.result = self.work(self.socket)

    def start(self) -> None:
        self.thread.start()

    def wait(self, seconds: float) -> Exited | None:
        self.thread.join(seconds)
        return None if self.thread.is_alive() else EXITED

    def end(self) -> Exited:
        self.thread.join()
        return EXITED

    def take(self) -> tuple[dict[str, Any], None, str]:
        return {}, None, tree_digest({})

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def through_gateway(folder: Path, root: str, work: Callable[[Path], Any]) -> tuple[Ended, Any]:
    cell: Cell = replace(model_cell(folder, root), caps={"wall_clock": 600})
    program = Clients(folder / "gateway", work)
    counted = metering.start(frozenset(("tool_calls", "tokens")), True)
    with (folder / "trace.jsonl").open("w") as trace:

        def emit(event: dict[str, Any]) -> None:
            trace.write(json.dumps(event, sort_keys=True) + "\n")
            trace.flush()

        ended = GatewayLoop(cell, program, counted, emit).run(cell.clock.start)  # type: ignore[attr-defined]
    return ended, program.result


def through_nothing(folder: Path, root: str) -> list[float]:
    """Send the same requests through the same server, which hands them on and does nothing else."""

    def hand_on(request: Request) -> Reply:
        headers = {"Content-Type": "application/json"}
        reply = transport.post(f"{root}{request.path}", headers, request.body, 60)
        return Reply(reply.status, reply.body)

    with Server(folder / "empty", lambda request: False, lambda job: None, hand_on):
        return load(folder / "empty")


def test_a_thousand_requests(tmp_path: Path) -> None:
    with fast_endpoint() as (root, _):
        empty = through_nothing(tmp_path, root)
        before = time.process_time()
        ended, took = through_gateway(tmp_path, root, load)
        cpu = time.process_time() - before
    assert len(took) == len(empty) == REQUESTS
    assert ended.ending == "finished"
    assert (ended.meters.model_calls, ended.meters.tool_calls) == (REQUESTS, REQUESTS)
    assert ended.meters.tokens == 15 * REQUESTS
    assert len({served.key for served in ended.served}) == REQUESTS
    plain, metered = statistics.median(empty), statistics.median(took)
    print(  # for the benchmarks: a machine's day is no verdict
        f"\n1,000 requests, {AT_ONCE} at a time: gateway {metered * 1e3:.1f} ms, {metered / plain:.2f} "
        f"times an empty proxy ({plain * 1e3:.1f} ms), {cpu:.2f} ms CPU a request; wanted <= 3"
    )


def test_an_endpoint_that_is_killed_in_the_middle(tmp_path: Path) -> None:
    with fast_endpoint() as (root, process):
        port = int(root.rpartition(":")[2])
        back = threading.Event()

        def restart() -> None:
            time.sleep(0.3)
            process.kill()
            process.wait()
            time.sleep(0.7)
            with fast_endpoint(port):
                back.wait(60)

        thread = threading.Thread(target=restart)
        thread.start()
        ended, took = through_gateway(tmp_path, root, load)
        back.set()
        thread.join()
    assert ended.ending == "finished"
    assert len(took) == ended.meters.model_calls == REQUESTS
    assert ended.meters.tokens == 15 * REQUESTS
    assert ended.infra_retries > 0
