"""From a box to a started child: under bubblewrap behind walls, else under the supervisor."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from frozenbench.canonical import BadInput, Failed
from frozenbench.sandbox import bubblewrap
from frozenbench.sandbox.box import Box
from frozenbench.sandbox.cgroup import Group, limited_memory
from frozenbench.sandbox.child import Child, Launch
from frozenbench.sandbox.folders import (
    first_launch,
    is_work_folder,
    staged_in,
    work_folder,
)
from frozenbench.sandbox.seccomp import filter_program
from frozenbench.sandbox.stage import Stage, guarded
from frozenbench.sandbox.trees import hand_over
from frozenbench.sandbox.users import become, reaches
from frozenbench.sandbox.watch import Watch

#: The variable that names the descriptor of the report.
REPORT_VARIABLE = "FROZENBENCH_REPORT_FD"


@dataclass(frozen=True)
class Walls:
    """What this machine has to make walls of."""

    binary: Path  # bubblewrap
    sized: bool = False  # the work folder gets a file system of limited size
    veiled: bool = False  # and mounts tell nothing of where they come from
    strict: bool = False  # of a probe: mounts are veiled that tell nothing, too
    group: Path | None = None  # below it a memory cgroup is made, where the box asks for one


@contextmanager
def launched(
    box: Box,
    argv: list[str],
    *,
    walls: Walls | None,
    stdin: bytes | None = b"",
    separate: bool = False,
    report: bool = False,
) -> Iterator[Child]:
    """Start `argv` in the box; its whole tree is ended when the context is left.

    A walled box needs `walls`. The other parameters are those of Child.

    Raises:
        BadInput: the command is empty, or the box names something that is not there.
        Failed: it cannot be started.
    """
    if not argv:
        raise BadInput("command: is empty")
    staged = walls is not None and walls.sized and is_work_folder(box.work)
    with ExitStack() as stack:
        with first_launch(box.work) if staged else nullcontext():
            _give_folders(box, staged)
            stage = None
            if staged and walls is not None:
                stage = Stage(box, veiled=walls.veiled, strict=walls.strict)
            if walls is None:
                launch = _bare(box, argv, report, stack)
            else:
                launch = _walled(box, argv, walls.binary, report, stage, _group(box, walls, stack))
            child = Child(launch, box.limits, stdin=stdin, separate=separate)
            if stage is not None:
                stage.adopt(child.process)
                child.let_go()
        try:
            yield child
        finally:
            with suppress(Failed):
                child.finish()
            if stage is not None:
                stage.bring_back()


def _group(box: Box, walls: Walls, stack: ExitStack) -> Group | None:
    if box.level != "userns+cgroup" or walls.group is None:
        return None
    return stack.enter_context(limited_memory(walls.group, box.limits.total_memory_bytes))


def _give_folders(box: Box, staged: bool) -> None:
    """Let the boxed user write where the box says so."""
    if not box.work.is_dir():
        raise BadInput(f"work folder: {box.work} is not there")
    if box.user is None:
        return
    folders = [mount.source for mount in box.mounts if mount.writable]
    # What is on the disk is copied, with its owner set; what is there already is not ours alone.
    if not staged or staged_in(box.work) is not None:
        folders.append(box.work)
    for folder in folders:
        if not is_work_folder(folder) and not reaches(box.user, folder.resolve()):
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
        self.go: int | None = None
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

    def blocking(self) -> int:
        """Return a descriptor to inherit from which nothing is read until `go` is written to."""
        block, self.go = os.pipe()
        self.inherited.append(block)
        return block

    def close(self) -> None:
        """Close all of them."""
        ours = [self.status[0], self.go, None if self.report is None else self.report[0]]
        for descriptor in (*ours, *self.inherited):
            if descriptor is not None:
                os.close(descriptor)


def _with_report(box: Box, pipes: _Pipes) -> Box:
    if pipes.report is None:
        return box
    variables = {**box.variables, REPORT_VARIABLE: str(pipes.report[1])}
    return replace(box, variables=variables)


def _walled(
    box: Box,
    argv: list[str],
    binary: Path,
    report: bool,
    stage: Stage | None,
    group: Group | None,
) -> Launch:
    pipes = _Pipes(report)
    try:
        program = filter_program()
        seccomp = None if program is None else pipes.holding("filter", program)
        box = _with_report(box, pipes)
        place = _where_it_is if stage is None else stage.place
        executable = bubblewrap.seen_at(binary, place)
        words = bubblewrap.command(
            box,
            work=str(box.work.resolve()) if stage is None else stage.work,
            place=place,
            scratch=bubblewrap.unlimited_names if stage is None else stage.scratch,
            status=pipes.status[1],
            seccomp=seccomp,
        )
        if stage is not None and stage.waits:
            words += ["--block-fd", str(pipes.blocking())]
        # The first process of the box shows its arguments to all others: no path is in them.
        told = pipes.holding("box", "\0".join(words).encode("utf-8", "surrogateescape"))
        words = ["bwrap", "--args", str(told), "--"]
        words += [*bubblewrap.limited(box.limits, box.user), *argv]
        steps = _steps(box, stage, group)
    except BaseException:
        pipes.close()
        raise
    sized = stage is not None
    killed = None if group is None else group.killed
    watch = Watch(box.limits, box.work, sized=sized, memory=True, killed=killed)
    launch = _launch(words, pipes, box, signal.SIGKILL)
    prepare = guarded(steps) if steps else None
    return replace(launch, executable=executable, prepare=prepare, watch=watch, go=pipes.go)


def _where_it_is(source: Path, writable: bool) -> str:
    return str(source)


def _steps(box: Box, stage: Stage | None, group: Group | None) -> list[Callable[[], None]]:
    """Return what the child does before it becomes bubblewrap, and another user."""
    user = box.user
    steps: list[Callable[[], None]] = []
    if group is not None:
        steps.append(group.join)
    if stage is not None:
        steps.append(partial(stage.prepare, user))
    if steps and user is not None:
        steps.append(partial(become, user))
    return steps


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
    launch = _launch(words, pipes, box, signal.SIGTERM)
    if box.level == "none":
        return launch
    watch = Watch(box.limits, box.work, sized=False, memory=False)
    return replace(launch, watch=watch)


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
