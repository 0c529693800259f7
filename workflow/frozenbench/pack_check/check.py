"""Check a pack: read it, try every task in the real sandbox, and keep what was found."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from frozenbench import __version__, keys, layout
from frozenbench.build_environment import build_environment, check_lock_text
from frozenbench.canonical import BadInput
from frozenbench.gateway.machine import machine_class
from frozenbench.pack_check.finding import Finding
from frozenbench.pack_check.findings import findings_of, unseen_share
from frozenbench.pack_check.progress import Progress
from frozenbench.pack_check.stored import as_stored, check_place, count, read, remembered, store
from frozenbench.pack_check.trials import Bench, Tried
from frozenbench.packs import Pack, Task, read_pack
from frozenbench.plan import network_policy
from frozenbench.preflight import check_python
from frozenbench.sandbox import require
from frozenbench.schema import nearest

#: With so many repeats a test that fails one time in five stays unseen once in 87 checks.
MANY = 20


@dataclass(frozen=True)
class Asked:
    """What is to be checked.

    Attributes:
        folder: the pack's folder, as it was given.
        repeats: how often each reference is graded, k.
        isolation: the level of the sandbox.
        tasks: ids; empty: the whole pack, whose result is stored.
    """

    folder: Path
    repeats: int = 3
    isolation: str = "userns"
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """The outcome of a check: the document as it is stored, and the findings with their logs."""

    asked: Asked
    document: dict[str, Any]
    findings: tuple[Finding, ...]
    path: Path | None  #: where it is stored; None for a part of a pack


def check_pack(asked: Asked, stream: TextIO | None = None) -> Checked:
    """Check a pack; progress goes to `stream` (default: standard error).

    Raises:
        BadInput: the pack, a task's id or the number of repeats is wrong.
        Refused: this machine gives less isolation, or another Python, than is asked for.
        Failed: the pack's environment cannot be built.
    """
    where = asked.folder.as_posix()
    if asked.repeats < 1:
        raise BadInput(
            f"--repeats: {asked.repeats} is too small; cure: 1 or more, the default is 3"
        )
    pack = read_pack(asked.folder, where)
    check_python(pack.info, where)
    if pack.lock is not None:
        check_lock_text(pack.lock.decode("utf-8", "replace"), f"{where}/requirements.txt")
    tasks = _chosen(pack, asked)
    require(asked.isolation)
    if not asked.tasks:
        check_place(pack.digest)
    progress = Progress(stream or sys.stderr, len(tasks))
    environment_id = keys.environment_id(pack.lock_sha256)
    bench = Bench(_environment(pack, asked, environment_id, progress), asked.isolation)
    tried = list(_try_all(bench, tasks, asked.repeats, progress))
    now = [finding for item in tried for finding in findings_of(item)]
    earlier = read(pack.digest, environment_id, asked.isolation)
    chosen = {task.id for task in tasks}
    found = [item for item in remembered(now, earlier) if item.task in chosen]
    document = _document(pack, asked, environment_id, tried, found)
    path = None if asked.tasks else store(document)
    return Checked(asked, document, tuple(found), path)


def _chosen(pack: Pack, asked: Asked) -> list[Task]:
    known = [task.id for task in pack.tasks]
    for name in asked.tasks:
        if name not in known:
            raise BadInput(
                f"--task: {name!r} is not in {asked.folder.as_posix()}{nearest(name, known)}; "
                "cure: name a task"
            )
    return [task for task in pack.tasks if not asked.tasks or task.id in asked.tasks]


def _environment(pack: Pack, asked: Asked, name: str, progress: Progress) -> Path:
    folder = layout.environment(name)
    if not (folder / "environment.json").exists():
        progress.note(f"pack check: building the environment of {asked.folder.as_posix()} (once)")
        lock = None if pack.lock is None else asked.folder / "requirements.txt"
        build_environment(lock, folder)
    return folder


def _try_all(
    bench: Bench, tasks: Sequence[Task], repeats: int, progress: Progress
) -> Iterator[Tried]:
    for done, task in enumerate(tasks):
        progress.say(done, task.id)
        yield bench.try_task(task, repeats)
    progress.clear()


def _document(
    pack: Pack, asked: Asked, environment_id: str, tried: Sequence[Tried], found: Sequence[Finding]
) -> dict[str, Any]:
    return {
        "pack": pack.info.name,
        "pack_digest": pack.digest,
        "environment": environment_id,
        "isolation": asked.isolation,
        "network": network_policy(asked.isolation),
        "repeats": asked.repeats,
        "date": datetime.now(UTC).date().isoformat(),
        "checked_by": __version__,
        "machine_class": machine_class(),
        "unseen_one_in_five": round(unseen_share(asked.repeats), 4),
        "open_network": [item.task.id for item in tried if item.task.network == "open"],
        "tasks": {item.task.id: _facts(item) for item in tried},
        "findings": [as_stored(finding) for finding in found],
    }


def _facts(tried: Tried) -> dict[str, Any]:
    """Return what was seen of one task; seconds to the hundredth."""
    slowest = max((run.seconds for run in tried.reference), default=None)
    wrong = tried.known_wrong
    return {
        "reference_passed": sum(run.passed for run in tried.reference),
        "reference_runs": len(tried.reference),
        "tests": None if tried.expected is None else len(tried.expected),
        "start": f"{tried.start.outcome} {tried.start.reason}",
        "known_wrong": None if wrong is None else f"{wrong.outcome} {wrong.reason}",
        "slowest_s": None if slowest is None else round(slowest, 2),
        "grade_timeout_s": tried.task.grader.timeout_s,
    }


def report_lines(checked: Checked) -> Iterator[str]:
    """Yield the findings, what was looked at, and one line that says what to do next."""
    for finding in checked.findings:
        earlier = " (seen by an earlier check of this pack, not by this one)"
        yield f"{finding.task}: {finding.kind}: {finding.found}{earlier if finding.earlier else ''}"
        yield f"    cure: {finding.cure}"
        yield from (f"    | {line}" for line in finding.log)
    yield from _seen_lines(checked)
    yield _summary(checked)


def _seen_lines(checked: Checked) -> Iterator[str]:
    document, facts = checked.document, checked.document["tasks"].values()
    wrong = [item["known_wrong"] for item in facts if item["known_wrong"] is not None]
    if wrong:
        passing = sum(told.startswith("PASS") for told in wrong)
        yield f"known wrong: {len(wrong)} given, {passing or 'none'} passed"
    reserves = [
        (item["grade_timeout_s"] / item["slowest_s"], item["slowest_s"], item["grade_timeout_s"])
        for item in facts
        if item["slowest_s"]
    ]
    if reserves:
        reserve, seconds, clock = min(reserves)
        told = f"grading time: {seconds:.2f} s of {clock:g} s where the reserve is least "
        yield f"{told}({reserve:.0f}-fold){_busy()}"
    if document["network"] == "blocked":
        yield "network: none was there, so what passed needs none"
    else:
        yield f"network: isolation {document['isolation']} blocks none, so nothing is known of it"
    if document["open_network"]:
        yield f"wants an open network, for agents alone: {', '.join(document['open_network'])}"
    yield _unseen_line(document["repeats"])


def _busy() -> str:
    """Return a remark where other work made the times longer: it is no fact of the pack."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load <= cores + 1:  # the check itself is one
        return ""
    return f"; the machine is busy (load {load:.1f} on {cores} processors), which makes it longer"


def _unseen_line(repeats: int) -> str:
    told = (
        "flaky tests: one that fails one time in five stays unseen in "
        f"{100 * unseen_share(repeats):.2g} of 100 checks with k = {repeats}"
    )
    if repeats < MANY:
        told += f"; with --repeats {MANY} in {100 * unseen_share(MANY):.2g}"
    return told


def _summary(checked: Checked) -> str:
    asked, document = checked.asked, checked.document
    pack, tasks = asked.folder.as_posix(), len(document["tasks"])
    head = f"pack check: {document['pack']} {document['pack_digest'][:12]}, {count(tasks, 'task')}"
    head += f", k = {asked.repeats}: "
    if checked.findings:
        bad = len({finding.task for finding in checked.findings})
        again = f"next: mend what is named, then frozenbench pack check {pack}"
        return f"{head}{count(len(checked.findings), 'finding')} in {count(bad, 'task')}; {again}"
    if checked.path is None:
        return f"{head}passed, not stored; next: frozenbench pack check {pack} (all tasks)"
    return f"{head}passed; next: pin it by pack.expected_sha256: {document['pack_digest']}"
