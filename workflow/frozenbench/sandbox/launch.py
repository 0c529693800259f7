"""From a box to a started child: under bubblewrap behind walls, else under the supervisor."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from frozenbench.canonical import BadInput, Failed
from frozenbench.sandbox import bubblewrap
from frozenbench.sandbox.box import Box
from frozenbench.sandbox.child import Child, Launch
from frozenbench.sandbox.folders import work_folder
from frozenbench.sandbox.seccomp import filter_program
from frozenbench.sandbox.trees import hand_over
from frozenbench.sandbox.users import reaches

#: The variable that names the descriptor of the report.
REPORT_VARIABLE = "FROZENBENCH_REPORT_FD"


@contextmanager
def launched(
    box: Box,
    argv: list[str],
    *,
    binary: Path | None,
    stdin: bytes | None = b"",
    separate: bool = False,
    report: bool = False,
) -> Iterator[Child]:
    """Start `argv` in the box; its whole tree is ended when the context is left.

    `binary` is the bubblewrap of a walled box. The other parameters are those of Child.

    Raises:
        BadInput: the command is empty, or the box names something that is not there.
        Failed: it cannot be started.
    """
    if not argv:
        raise BadInput("command: is empty")
    _give_folders(box)
    with ExitStack() as stack:
        launch = _walled(box, argv, binary, report) if binary else _bare(box, argv, report, stack)
        child = Child(launch, box.limits, stdin=stdin, separate=separate)
        try:
            yield child
        finally:
            with suppress(Failed):
                child.finish()


def _give_folders(box: Box) -> None:
    """Let the boxed user write where the box says so."""
    if not box.work.is_dir():
        raise BadInput(f"work folder: {box.work} is not there")
    if box.user is None:
        return
    for folder in (box.work, *(mount.source for mount in box.mounts if mount.writable)):
        if not reaches(box.user, folder.resolve()):
            raise BadInput(
                f"{folder}: uid {box.user.uid} cannot reach it; cure: make it in work_folder()"
            )
        if folder.is_dir():
            hand_over(folder, box.user.uid, box.user.gid)


class _Pipes:
    """The descriptors of one launch; all are closed unless the launch is handed on."""

    def __init__(self, report: bool) -> None:
        self.status = os.pipe()
        self.report = os.pipe() if report else None
        self.inherited = [self.status[1]]
        if self.report is not None:
            self.inherited.append(self.report[1])

    def holding(self, name: str, content: bytes) -> int:
        """Return a descriptor to inherit from which `content` is read."""
        descriptor = os.memfd_create(name)
        self.inherited.append(descriptor)
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def close(self) -> None:
        """Close all of them."""
        reading = [self.status[0]] if self.report is None else [self.status[0], self.report[0]]
        for descriptor in (*reading, *self.inherited):
            os.close(descriptor)


def _with_report(box: Box, pipes: _Pipes) -> Box:
    if pipes.report is None:
        return box
    variables = {**box.variables, REPORT_VARIABLE: str(pipes.report[1])}
    return Box(box.level, box.work, box.mounts, box.environment, box.limits, variables)


def _walled(box: Box, argv: list[str], binary: Path, report: bool) -> Launch:
    pipes = _Pipes(report)
    try:
        program = filter_program()
        seccomp = None if program is None else pipes.holding("filter", program)
        box = _with_report(box, pipes)
        words = bubblewrap.command(binary, box, argv, status=pipes.status[1], seccomp=seccomp)
    except BaseException:
        pipes.close()
        raise
    return _launch(words, pipes, box, signal.SIGKILL)


def _bare(box: Box, argv: list[str], report: bool, stack: ExitStack) -> Launch:
    home = stack.enter_context(work_folder())
    pipes = _Pipes(report)
    try:
        limits = asdict(box.limits) | {"open_files": bubblewrap.OPEN_FILES}
        user = box.user
        orders = {
            "parent": os.getpid(),
            "status": pipes.status[1],
            "keep": [] if pipes.report is None else [pipes.report[1]],
            "argv": argv,
            "variables": _with_report(box, pipes).variables_inside(str(home)),
            "folder": str(box.work.resolve()),
            "limits": None if box.level == "none" else limits,
            "user": None if user is None else [user.uid, user.gid],
        }
        descriptor = pipes.holding("orders", json.dumps(orders).encode())
    except BaseException:
        pipes.close()
        raise
    script = str(Path(__file__).with_name("supervise.py"))
    words = [sys.executable, "-I", "-S", script, str(descriptor)]
    return _launch(words, pipes, box, signal.SIGTERM)


def _launch(words: list[str], pipes: _Pipes, box: Box, ending: signal.Signals) -> Launch:
    return Launch(
        argv=words,
        inherited=tuple(pipes.inherited),
        status=pipes.status[0],
        report=None if pipes.report is None else pipes.report[0],
        # The supervisor keeps our user, out of reach of the process, and drops it itself.
        user=box.user if box.walled else None,
        ending=ending,
    )
