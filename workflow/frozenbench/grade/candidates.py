"""The door between the tests of a `split` task and its candidate: one box for each connection.

The trusted tests connect to a Unix socket, which their box shows them. Each connection is answered by
a child in a box of its own that sees the artifact and nothing else, until either end is gone.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import marshal
import math
import os
import select
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib.machinery import SourceFileLoader
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Self

from frozenbench.canonical import Failed, File, FrozenbenchError, write_tree
from frozenbench.sandbox import Box, Ended, Limits, Mount, Running, start, work_folder

INSIDE = Path(__file__).parent.parent / "inside"
PROGRAM = ("candidate_child", "candidate_codec")
PROGRAM_FOLDER = "/opt/frozenbench"

#: Bytes of one answer; a candidate that says more at once is ended.
MAX_ANSWER = 8 << 20
#: Bytes of one request: it is the tests' own.
MAX_REQUEST = 64 << 20
#: Bytes that are kept of what the children of one artifact printed.
MAX_OUTPUT = 64 << 10
#: Children at one time.
MAX_CHILDREN = 64
#: Bytes of a socket's path: the least that a system allows, with its end.
MAX_PATH = 100

#: How long a child whose tests are done with it may take for its own exit handlers, s.
_LEAVE_SECONDS = 0.5
#: How often a thread that waits for a child looks whether it is still wanted, s.
_LOOK_SECONDS = 0.02

Tree = Mapping[str, File]


class Candidates:
    """The listening socket and all children behind it.

    with Candidates(environment, isolation, limits) as door:
        door.hold(artifact)
        ...  # a trusted process that can reach door.socket runs the tests
        print(door.output)
    """

    def __init__(self, environment: Path, isolation: str, limits: Limits) -> None:
        """`limits` hold for each child, its clock from its own start."""
        self._environment = environment
        self._isolation = isolation
        self._limits = replace(limits, output_bytes=MAX_ANSWER)
        self._stack = ExitStack()
        self._held = _Held({})
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        """Listen.

        Raises:
            Failed: no socket can be made there.
        """
        with ExitStack() as stack:
            folder = stack.enter_context(work_folder())
            self.program = _compiled(folder / "program")
            self.socket = folder / "s"
            if len(os.fsencode(self.socket)) >= MAX_PATH:
                raise Failed(f"{self.socket}: is too long for a socket; cure: a shorter TMPDIR")
            self._listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            self._listener.bind(str(self.socket))
            # The folder lets the boxed user pass and nobody else.
            self.socket.chmod(0o666)
            self._listener.listen(MAX_CHILDREN)
            stack.callback(self._end)
            acceptor = threading.Thread(target=self._accept, daemon=True)
            acceptor.start()
            stack.callback(acceptor.join)
            stack.callback(self._stop_listening)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def hold(self, tree: Tree) -> None:
        """Let the next children have this artifact; end all children of the one before."""
        self._end()
        with self._lock:
            self._held = _Held(tree)

    @property
    def output(self) -> bytes:
        """The last of what the children of the artifact printed; ends those that still run."""
        self._end()
        return bytes(self._held.output)

    @property
    def fault(self) -> str | None:
        """What failed of the machinery itself while this artifact was held, or None."""
        return self._held.fault

    def _end(self) -> None:
        with self._lock:
            self._held.over.set()
            threads = list(self._held.threads)
        for thread in threads:
            thread.join()
        with self._lock:
            self._held.threads.clear()
            self._held.over.clear()

    def _stop_listening(self) -> None:
        self._closing.set()
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(self.socket))

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._closing.is_set():
                connection.close()
                return
            with self._lock:
                held = self._held
                held.threads[:] = [thread for thread in held.threads if thread.is_alive()]
                if held.over.is_set() or len(held.threads) >= MAX_CHILDREN:
                    with connection:
                        _send(connection, _died(f"more than {MAX_CHILDREN} at one time"))
                    continue
                thread = threading.Thread(target=self._serve, args=(connection, held), daemon=True)
                held.threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, held: _Held) -> None:
        """Serve one connection to its end; whatever goes wrong, its other end is told."""
        with connection:
            try:
                self._answer(_Tests(connection, held.over), held)
            except _Over:
                pass
            except FrozenbenchError as error:
                held.fault = f"the candidate's box: {error}"
                _send(connection, _died(f"it cannot be started: {error}"))
            except Exception as error:
                held.fault = f"the way to the candidate broke down: {error!r}"
                _send(connection, _died(f"the way to it broke down: {error!r}"))

    def _answer(self, tests: _Tests, held: _Held) -> None:
        head = json.loads(tests.line())
        path, operation = inside(head["path"]), head["op"]
        files = head.get("files") or {}
        laid = {inside(name): File(base64.b64decode(data)) for name, data in files.items()}
        tree = _laid_over(held.tree, laid)
        if path not in tree:
            tests.say({"n": 0, "absent": f"{path} is not in the artifact"})
        elif operation == "source":
            data = base64.b64encode(tree[path].data).decode()
            tests.say({"n": 0, "data": data})
        elif operation in ("load", "run"):
            seconds = head.get("seconds")
            order = {name: head[name] for name in ("op", "path", "args", "stdin") if name in head}
            self._child(tests, held, tree, order, seconds)
        else:
            tests.say(_died("it was asked for in no way that is known"))

    def _child(
        self,
        tests: _Tests,
        held: _Held,
        tree: Tree,
        order: Mapping[str, Any],
        seconds: float | None,
    ) -> None:
        with work_folder() as work:
            write_tree(tree, work)
            box = Box(
                self._isolation,
                work,
                mounts=(Mount(self.program, PROGRAM_FOLDER),),
                environment=self._environment,
                limits=replace(self._limits, seconds=_shorter(self._limits.seconds, seconds)),
            )
            program = box.seen(f"{PROGRAM_FOLDER}/{PROGRAM[0]}.pyc")
            with start(box, [box.python, "-I", program]) as child:
                try:
                    with suppress(_Over):
                        _exchange(tests, child, json.dumps(order).encode())
                    if not held.over.is_set():
                        child.close(_LEAVE_SECONDS)
                finally:
                    ended = child.close()
                    with self._lock:
                        held.keep(ended.output)


@dataclass
class _Held:
    """One artifact, the threads that serve it, and what its children printed."""

    tree: Tree
    threads: list[threading.Thread] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    output: bytearray = field(default_factory=bytearray)
    fault: str | None = None

    def keep(self, output: bytes) -> None:
        """Take in what a child printed."""
        self.output += output[-MAX_OUTPUT:]
        del self.output[:-MAX_OUTPUT]


class _Over(Exception):
    """The tests have closed the connection, or nobody wants its child any more."""


class _Tests:
    """The tests' end of a connection, in lines."""

    def __init__(self, connection: socket.socket, over: threading.Event) -> None:
        self._connection = connection
        self._over = over
        self._pending = bytearray()
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def line(self) -> bytes:
        """Wait for a line. Raises _Over where none comes any more."""
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0:
            searched = len(self._pending)
            self._wait(math.ceil(_LOOK_SECONDS * 1000))
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def look(self) -> None:
        """Raise _Over where the tests have gone meanwhile."""
        if self._over.is_set():
            raise _Over
        if not self._pending:
            self._wait(0)

    def _wait(self, milliseconds: int) -> None:
        if self._over.is_set():
            raise _Over
        if not self._poll.poll(milliseconds):
            return
        try:
            data = self._connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data or len(self._pending) > MAX_REQUEST:
            raise _Over
        self._pending += data

    def say(self, reply: Mapping[str, Any]) -> None:
        """Send a reply of our own."""
        _send(self._connection, reply)

    def pass_on(self, line: bytes) -> None:
        """Send a line of the child. Raises _Over where nobody takes it."""
        try:
            self._connection.sendall(line + b"\n")
        except OSError:
            raise _Over from None


def _exchange(tests: _Tests, child: Running, line: bytes) -> None:
    """Pass lines to the child and its answers back until one of the two is gone."""
    while True:
        # A child that takes nothing in is waited for like one that says nothing.
        taken = child.write_line(line, time.monotonic() + _LOOK_SECONDS)
        answer = child.read_line(time.monotonic() + _LOOK_SECONDS) if taken else None
        while answer is None:
            if child.ended is not None:
                tests.say(_died(_why(child.ended)))
                return
            tests.look()
            answer = child.read_line(time.monotonic() + _LOOK_SECONDS)
        tests.pass_on(answer)
        line = tests.line()


def _why(ended: Ended) -> str:
    if ended.timed_out:
        return f"its clock ended it after {ended.seconds:.1f} s"
    if ended.resource_limit == "output_bytes":
        return f"an answer of more than {MAX_ANSWER >> 20} MiB"
    if ended.resource_limit is not None:
        return f"its limit of {ended.resource_limit} ended it"
    if ended.signal is not None:
        return f"signal {ended.signal} ended it"
    return f"it ended with status {ended.exit_status}"


def _died(why: str) -> dict[str, str]:
    return {"died": f"the candidate's process is gone: {why}"}


def _send(connection: socket.socket, reply: Mapping[str, Any]) -> None:
    with suppress(OSError):
        connection.sendall(json.dumps(reply).encode() + b"\n")


def _shorter(first: float | None, second: float | None) -> float | None:
    given = [seconds for seconds in (first, second) if seconds is not None]
    return min(given, default=None)


def _laid_over(artifact: Tree, laid: Tree) -> Tree:
    """Return the artifact with the tests' own files over it.

    What stands where one of them goes gives way, a file in the place of a folder too, and a folder
    in the place of a file: no artifact is to break the grader.
    """
    folders = {parent.as_posix() for path in laid for parent in PurePosixPath(path).parents}
    kept = {
        path: file
        for path, file in artifact.items()
        if path not in folders
        and not any(parent.as_posix() in laid for parent in PurePosixPath(path).parents)
    }
    return {**kept, **laid}


def inside(path: str) -> str:
    """Return a path in the tree as a tree names it.

    Raises:
        ValueError: it leads out of the tree.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in path:
        raise ValueError(f"{path!r} is no path in the artifact")
    return pure.as_posix()


def _compiled(folder: Path) -> Path:
    """Write the byte code of the child's program: no child has to compile it then.

    The boxes run the same Python as we do, in major and minor version.
    """
    folder.mkdir()
    folder.chmod(0o755)
    for path in (INSIDE / "trusted").rglob("*.py"):
        # Its byte code is left beside it, where that can be, for the box that mounts it.
        SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    for name in PROGRAM:
        code = SourceFileLoader(name, str(INSIDE / f"{name}.py")).get_code(name)
        target = folder / f"{name}.pyc"
        target.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
        target.chmod(0o644)
    return folder
