"""The server's life, with a stand-in engine: a plain HTTP server under the engine's name.

What the real engine answers is tested in test_live_model.py.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from frozenbench.adapters.contract import EndpointDown
from frozenbench.canonical import BadInput, Refused, sha256_bytes
from frozenbench.gateway import local_server, transport
from frozenbench.gateway.local_server import Spec, find_weights, running, state_folder

ENGINE = """
import json, os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class _Any:
    def __getattr__(self, name):
        self.__dict__[name] = _Any()
        return self.__dict__[name]

class CommonParams(_Any):
    pass

class _Handler(BaseHTTPRequestHandler):
    busy = 0

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _Handler.busy += 1
        at_once = _Handler.busy
        time.sleep(asked.get("sleep", 0))
        _Handler.busy -= 1
        if asked.get("close"):
            self.server.socket.close()
        body = json.dumps({"pid": os.getpid(), "at_once": at_once}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

class Server:
    def __init__(self, params):
        with open(params.model.path) as weights:
            if weights.read() == "broken":
                raise RuntimeError("these weights cannot be loaded")
        server = ThreadingHTTPServer((params.hostnames[0], params.port), _Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages in front of the installed ones, with the stand-in engine."""
    (tmp_path / "xllamacpp.py").write_text(ENGINE)
    (tmp_path / "xllamacpp-0.dist-info").mkdir()
    (tmp_path / "xllamacpp-0.dist-info" / "METADATA").write_text("Name: xllamacpp\nVersion: 0\n")
    (tmp_path / "test_weights").mkdir()
    # Importing the package would end the test: weights are found without that.
    (tmp_path / "test_weights" / "__init__.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TEST_KEY", "sk-secret-2")
    return tmp_path


def spec_with(packages: Path, content: str) -> Spec:
    (packages / "test_weights" / "w.gguf").write_text(content)
    sha256 = sha256_bytes(content.encode())
    return Spec("xllamacpp", "m", "test_weights", "w.gguf", sha256, 256)


@pytest.fixture
def spec(packages: Path) -> Iterator[Spec]:
    made = spec_with(packages, f"weights of {packages.name}")
    yield made
    assert gone(made, 5), "a server is left over"
    shutil.rmtree(state_folder(made))


def ask(root: str, **request: object) -> dict[str, int]:
    reply = transport.post(root, {}, json.dumps(request).encode(), 10)
    answer: dict[str, int] = json.loads(reply.body)
    return answer


def gone(spec: Spec, seconds: float) -> bool:
    """Tell whether the server's lock is free, its port closed and its state removed in time."""
    state = state_folder(spec) / "state.json"
    address = json.loads(state.read_text())["address"] if state.exists() else None
    return within(
        seconds,
        lambda: (
            not local_server._alive(state.parent)
            and (address is None or not local_server._answers(address))
        ),
    )


def ended(pid: int) -> bool:
    """Tell whether a process has ended; in some containers nobody clears such away."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_it_starts_serves_and_ends_by_itself(spec: Spec) -> None:
    with running(spec) as root:
        first = ask(root)
    with running(spec) as root:  # a moment later: the same process
        assert ask(root)["pid"] == first["pid"]
    state = json.loads((state_folder(spec) / "state.json").read_text())
    assert state["pid"] == first["pid"] != os.getpid()
    assert os.getsid(first["pid"]) != os.getsid(0)
    begun = time.monotonic()
    assert gone(spec, 5)
    assert time.monotonic() - begun > 0.5
    assert not (state_folder(spec) / "state.json").exists()


def test_it_lives_as_long_as_somebody_asks(spec: Spec) -> None:
    with running(spec) as root:
        first = ask(root)
        time.sleep(local_server.IDLE_SECONDS + 1.0)
        assert ask(root) == first


def test_its_folder_is_private_and_nothing_in_it_is_secret(spec: Spec) -> None:
    with running(spec) as root:
        pid = ask(root)["pid"]
        folder = state_folder(spec)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert b"sk-secret-2" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert len(str(folder)) < 80


CONSUME = """
import json, sys, time
from frozenbench.gateway import transport
from frozenbench.gateway.local_server import Spec, running
with running(Spec(*sys.argv[1:6], int(sys.argv[6]))) as root:
    asked = json.dumps({"sleep": float(sys.argv[7])}).encode()
    print(transport.post(root, {}, asked, 60).body.decode(), flush=True)
"""


def consumer(spec: Spec, sleep: float) -> subprocess.Popen[str]:
    fields = [spec.engine, spec.model, spec.package, spec.file, spec.weights_sha256]
    argv = [sys.executable, "-c", CONSUME, *fields, str(spec.context), str(sleep)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def test_many_that_need_it_first_start_one_and_take_turns(spec: Spec) -> None:
    consumers = [consumer(spec, 0.1) for _ in range(6)]
    answers = [json.loads(asking.communicate(timeout=30)[0]) for asking in consumers]
    assert len({answer["pid"] for answer in answers}) == 1
    assert [answer["at_once"] for answer in answers] == [1] * 6


@pytest.mark.slow
def test_nothing_is_left_after_all_consumers_are_killed(spec: Spec) -> None:
    consumers = [consumer(spec, 30) for _ in range(3)]
    assert within(10, (state_folder(spec) / "state.json").exists)
    pid = json.loads((state_folder(spec) / "state.json").read_text())["pid"]
    for asking in consumers:
        os.kill(asking.pid, signal.SIGKILL)
        asking.communicate()
    assert gone(spec, 5)
    assert within(1, lambda: ended(pid))


def test_killed_in_the_middle_of_starting_it(spec: Spec) -> None:
    asking = consumer(spec, 30)
    assert within(10, (state_folder(spec) / "log").exists)  # just before the server starts
    asking.kill()
    asking.communicate()
    assert gone(spec, 5)
    with running(spec) as root:
        assert ask(root)["at_once"] == 1


def test_another_one_after_it_was_killed(spec: Spec) -> None:
    with running(spec) as root:
        first = ask(root)["pid"]
    os.kill(first, signal.SIGKILL)
    assert within(5, lambda: not local_server._alive(state_folder(spec)))
    with running(spec) as root:
        assert ask(root)["pid"] != first


def test_another_one_after_its_port_went(spec: Spec) -> None:
    with running(spec) as root:
        first = ask(root, close=True)["pid"]
        assert within(5, lambda: not local_server._answers(root))
    with running(spec) as root:
        assert ask(root)["pid"] != first


def test_a_removed_folder_ends_it(spec: Spec) -> None:
    with running(spec) as root:
        ask(root)
        shutil.rmtree(state_folder(spec))
        assert within(5, lambda: not local_server._answers(root))


def test_a_server_that_cannot_start_tells_why(packages: Path) -> None:
    spec = spec_with(packages, "broken")
    begun = time.monotonic()
    with pytest.raises(EndpointDown, match=r"did not start: .*these weights cannot be loaded"):
        running(spec).__enter__()
    assert time.monotonic() - begun < 10
    shutil.rmtree(state_folder(spec))


def test_weights_are_found_without_importing_their_package(packages: Path) -> None:
    spec = spec_with(packages, "weights")
    assert find_weights(spec) == packages / "test_weights" / "w.gguf"


def test_other_weights_than_the_pinned_are_refused(packages: Path) -> None:
    spec = replace(spec_with(packages, "weights"), weights_sha256="0" * 64)
    with pytest.raises(Refused, match=rf"{sha256_bytes(b'weights')}, pinned is {'0' * 64}; cure: "):
        find_weights(spec)
    with pytest.raises(Refused):
        running(spec).__enter__()
    shutil.rmtree(state_folder(spec))


@pytest.mark.parametrize("name", ["no_such_package", "no_such.package"])
def test_a_package_that_is_not_installed(packages: Path, name: str) -> None:
    spec = spec_with(packages, "weights")
    for broken in (replace(spec, package=name), replace(spec, engine=name)):
        with pytest.raises(
            BadInput, match=rf"{name} is not installed.*cure: `make model`, or `pip"
        ):
            running(broken).__enter__()


def test_a_file_that_is_not_in_the_package(packages: Path) -> None:
    spec = replace(spec_with(packages, "weights"), file="v.gguf")
    with pytest.raises(BadInput, match=r"v\.gguf is not in the package test_weights; cure: "):
        find_weights(spec)


def test_a_server_needs_pinned_weights() -> None:
    with pytest.raises(BadInput, match="weights_sha256: is missing; cure: "):
        local_server.spec_of({"model": "m"}, {})
