"""replay: rerun an experiment from its record alone, in an empty store, and compare cell by cell.

The replay has a project folder of its own: tasks, graders and agents are frozen into it anew from
pack and config, its store holds the record and nothing else, and every cell is run and graded
there. Nothing is asked of an endpoint, and no key is looked at. The pack environment alone is taken
from the store where it is there: it is built from a lock by hashes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from frozenbench import layout
from frozenbench.build_environment import build_environment
from frozenbench.canonical import BadInput, Failed, Incomplete, Refused, read_json, write_json
from frozenbench.freeze_agent import freeze_agent
from frozenbench.freeze_grader import freeze_grader
from frozenbench.freeze_names import freeze_names
from frozenbench.freeze_task import freeze_task
from frozenbench.gateway.published_record import unpack_record
from frozenbench.gateway.record import Store, clock_path
from frozenbench.jobs import Jobs
from frozenbench.outcomes import INFRASTRUCTURE
from frozenbench.plan import Plan, PlannedCell
from frozenbench.preflight import cores_here, preflight
from frozenbench.progress import PIPE_SECONDS, spoken
from frozenbench.replay_cells import Bench, Grading, Replay, enter, expect, replay_cells
from frozenbench.replay_compare import Difference, compare
from frozenbench.sandbox import require
from frozenbench.seal import broken_seal

#: So many cells of one reason are named.
_NAMED = 5


@dataclass
class Replayed:
    """What came of a replay.

    Attributes:
        cells: cells that were replayed.
        differences: those that differ.
        drifted: requests that were served the answer of their place, not of their key.
        left_out: reason -> labels of the cells that cannot be replayed.
        open_network: cells of tasks with an open network, which no replay holds.
        responses: recorded responses that the replay had.
    """

    cells: int = 0
    differences: list[Difference] = field(default_factory=list)
    drifted: int = 0
    left_out: dict[str, list[str]] = field(default_factory=dict)
    open_network: int = 0
    responses: int = 0

    @property
    def status(self) -> int:
        """Exit status: 1 where a cell differs, 5 where one could not be replayed, else 0."""
        return 1 if self.differences else Incomplete.exit_status if self.left_out else 0

    def lines(self) -> Iterator[str]:
        """Yield what differs, what was left out, and the summary."""
        for difference in sorted(self.differences, key=lambda found: found.cell):
            yield from difference.lines()
        for reason, labels in self.left_out.items():
            more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
            yield f"not replayed: {len(labels)} cells, {reason}: {', '.join(labels[:_NAMED])}{more}"
        if self.open_network:
            yield f"{self.open_network} cells of tasks with an open network are in no replay"
        if self.drifted:
            yield (
                f"drift: {self.drifted} requests were not in the record as they were asked, and got "
                "the answer of their place in the conversation (`drift` in their run.json)"
            )
        equal = self.cells - len(self.differences)
        missing = sum(map(len, self.left_out.values()))
        yield (
            f"replay: {equal} of {self.cells} cells equal, {len(self.differences)} differ, {missing} "
            f"not replayed; {self.responses} recorded responses, nothing asked"
        )
        if self.differences:
            yield "a broken experiment: its record does not lead to its outcomes"


def replay(
    plan: Plan, record: Path | None, keep: Path | None, jobs: int, stream: TextIO
) -> Replayed:
    """Replay an experiment that has run in this store; must be called in its project folder.

    Args:
        plan: the experiment.
        record: the record file to replay from; None: the responses in the store.
        keep: a folder that is not there, for the replay's files; None: they are removed.
        jobs: cells at one time.
        stream: takes the progress.

    Raises:
        Incomplete: no cell of the experiment has run here, or there is no such record.
        Refused: a run or a grade was edited, or the machine gives less isolation.
        BadInput: `keep` is there already.
    """
    preflight(plan)
    require(plan.config.isolation)
    found = Replayed()
    cells = _replayable(plan, found)
    if record is not None and not record.is_file():
        raise Incomplete(f"{record}: is not there; cure: frozenbench record export")
    with _folder(keep) as folder:
        held = _lay_record(plan, record, folder)
        found.responses = len(held)
        cells = _with_responses(cells, held, found)
        if plan.config.clock == "strict":
            jobs = min(jobs, cores_here())
        _Run(plan, folder, found, stream).all(cells, jobs)
    return found


def _replayable(plan: Plan, found: Replayed) -> list[PlannedCell]:
    """Return the cells that a record can lead to; the others are noted."""
    cells = []
    for cell in plan.cells:
        if plan.tasks[cell.task].network == "open":
            found.open_network += 1
        elif (reason := _obstacle(plan, cell)) is not None:
            found.left_out.setdefault(reason, []).append(cell.label)
        else:
            cells.append(cell)
    if not cells and found.left_out:
        reason, labels = next(iter(found.left_out.items()))
        raise Incomplete(f"{plan.where}: no cell can be replayed: {len(labels)} cells, {reason}")
    return cells


def _obstacle(plan: Plan, cell: PlannedCell) -> str | None:
    """Return why a cell cannot be replayed, or None.

    Raises:
        Refused: its run or grade was edited, so that there is nothing to compare with.
    """
    if not cell.control and getattr(plan.agents[cell.agent].adapter, "UNSANDBOXED", False):
        return f"agent {cell.agent}: what an http agent answers is in no record"
    leaves = plan.leaves(cell)
    if not all(leaf.exists() for leaf in leaves):
        return "has not run; cure: run the workflow"
    for leaf in leaves:
        if (problem := broken_seal(read_json(leaf), leaf.parent, leaf.name)) is not None:
            raise Refused(f"{leaf}: {problem}; cure: remove its folder and run the workflow")
    grade = read_json(leaves[1])
    if grade["outcome"] == "ERROR" and grade["reason"] in INFRASTRUCTURE:
        return f"ended as ERROR {grade['reason']}; cure: frozenbench retry"
    return None


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="frozenbench-replay-") as name:
            yield Path(name).resolve()
        return
    try:
        keep.mkdir(parents=True)
    except FileExistsError:
        raise BadInput(f"{keep}: is there already; cure: a folder that is not there") from None
    yield keep.resolve()


def _lay_record(plan: Plan, record: Path | None, folder: Path) -> set[str]:
    """Lay the record into the replay's store; return its keys.

    From the store come what the runs used and the events at which their clocks fell.
    """
    target = Store(folder / layout.RESPONSES)
    if record is not None:
        return {entry.key for entry in unpack_record(record, target).record.entries}
    store = Store(layout.RESPONSES)
    held = {key for run_key in plan.runs for key in _used(run_key) if store.path(key).exists()}
    files = [(store.path(key), target.path(key)) for key in held]
    files += [(clock_path(store.root, key), clock_path(target.root, key)) for key in plan.runs]
    for source, there in files:
        if source.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, there)
    return held


def _used(run_key: str) -> list[str]:
    path = layout.run(run_key) / "run.json"
    return list(read_json(path)["responses"]["keys"]) if path.exists() else []


def _with_responses(cells: list[PlannedCell], held: set[str], found: Replayed) -> list[PlannedCell]:
    """Return the cells all of whose responses the record holds; note the others, and how many lack."""
    lacking = {cell.run_key: set(_used(cell.run_key)) - held for cell in cells}
    without = [cell.label for cell in cells if lacking[cell.run_key]]
    if without:
        number = len(set().union(*lacking.values()))
        reason = f"the record lacks {number} of their responses; cure: frozenbench record export"
        found.left_out[reason] = without
    return [cell for cell in cells if not lacking[cell.run_key]]


@dataclass
class _Run:
    """One replay at work."""

    plan: Plan
    folder: Path
    found: Replayed
    stream: TextIO

    def all(self, cells: list[PlannedCell], jobs: int) -> None:
        """Freeze what the cells need, replay them, and compare each as it comes.

        Raises:
            Failed: the system ended a worker.
        """
        progress = _Progress(self.stream, len(cells))
        progress.say("freezing tasks, graders and agents")
        bench = self._bench()
        grading = {name: self._grading(name) for name in {cell.task for cell in cells}}
        agents = {name: self._agent(name) for name in self.plan.agents}
        due = [
            (batch, tuple(self._replay(c, grading[c.task], agents.get(c.agent)) for c in batch))
            for batch in self._batches(cells)
        ]
        try:
            with self._workers(jobs) as workers:
                progress.say("grading the reference solutions")
                for done in [workers.submit(expect, bench, item) for item in grading.values()]:
                    done.result()
                begun = {workers.submit(replay_cells, bench, todo): batch for batch, todo in due}
                for future in as_completed(begun):
                    self._compare(begun[future], future.result())
                    progress.done(self.found)
        except BrokenProcessPool:
            raise Failed(
                "replay: the system ended a worker (for want of memory?); cure: --jobs 1"
            ) from None
        finally:
            progress.close()

    @contextmanager
    def _workers(self, jobs: int) -> Iterator[ProcessPoolExecutor]:
        """Give processes that stand in the replay's folder and hold no key of an endpoint."""
        endpoints = [agent.connection.get("endpoint", {}) for agent in self.plan.agents.values()]
        keys = [endpoint["key_env"] for endpoint in endpoints if "key_env" in endpoint]
        given = (os.getpid(), self.folder, keys)
        with ProcessPoolExecutor(
            jobs, get_context("spawn"), initializer=enter, initargs=given
        ) as workers:
            try:
                yield workers
            finally:
                workers.shutdown(wait=False, cancel_futures=True)

    def _batches(self, cells: list[PlannedCell]) -> list[list[PlannedCell]]:
        """Return the cells in batches that share verdicts: a task's of one agent, largest first."""
        rank = Jobs(self.plan).priority
        batches: dict[tuple[str, str], list[PlannedCell]] = {}
        for cell in sorted(cells, key=rank, reverse=True):
            batches.setdefault((cell.task, cell.agent), []).append(cell)
        return list(batches.values())

    def _bench(self) -> Bench:
        plan = self.plan
        controls = plan.folder / "controls.json"
        write_json(self.folder / controls, plan.controls)
        environment = layout.environment(plan.environment_id)
        if not (environment / "environment.json").exists():
            environment = self.folder / environment
            lock = Path(plan.config.pack.path) / "requirements.txt"
            build_environment(None if plan.pack.lock is None else lock, environment)
        environment = environment.absolute()
        names = self.folder / layout.frozen_names(plan.environment_id)
        freeze_names(environment, plan.config.isolation, names)
        return Bench(controls, environment, names, plan.config.isolation)

    def _grading(self, name: str) -> Grading:
        """Freeze a task and its grader into the replay's folder."""
        task, pack = self.plan.tasks[name], Path(self.plan.config.pack.path)
        task_files = layout.frozen_task(task.digest)
        grader_files = layout.frozen_grader(task.grader.digest)
        freeze_task(pack, name, self.folder / task_files)
        freeze_grader(pack, name, self.folder / grader_files)
        return Grading(task_files, grader_files, self.plan.expected_path(task))

    def _agent(self, name: str) -> Path:
        files = layout.frozen_agent(self.plan.agents[name].frozen_digest)
        freeze_agent(name, self.folder / files)
        return files

    def _replay(self, cell: PlannedCell, grading: Grading, agent: Path | None) -> Replay:
        return Replay(
            agent=cell.agent,
            task=cell.task,
            budget=cell.budget,
            repeat=cell.repeat,
            run_key=cell.run_key,
            grade_key=cell.grade_key,
            grading=grading,
            agent_files=agent,
            solution=grading.grader_files / "solution" if cell.agent == "reference" else None,
            startup_timeout_s=self.plan.config.startup_timeout_s,
        )

    def _compare(self, batch: list[PlannedCell], failed: Mapping[str, str]) -> None:
        for cell in batch:
            self.found.cells += 1
            if cell.grade_key in failed:
                told = Difference(cell.label, (), f"its replay broke: {failed[cell.grade_key]}")
                self.found.differences.append(told)
                continue
            difference, drifted = compare(cell, self.folder)
            self.found.drifted += drifted
            if difference is not None:
                self.found.differences.append(difference)


class _Progress:
    """One line, live on a terminal, now and then in a pipe."""

    def __init__(
        self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._total, self._clock = stream, total, clock
        self._live = stream.isatty()
        self._began = self._printed = clock()

    def say(self, what: str) -> None:
        """Say what comes now."""
        self._write(f"replay: {what}", always=True)

    def done(self, found: Replayed) -> None:
        """Say how many cells are through."""
        passed = self._clock() - self._began
        left = passed / max(1, found.cells) * (self._total - found.cells)
        self._write(
            f"replay: cells {found.cells} of {self._total} | {len(found.differences)} differ | about "
            f"{spoken(left)} left"
        )

    def _write(self, line: str, always: bool = False) -> None:
        now = self._clock()
        if self._live:
            width = shutil.get_terminal_size().columns
            self._stream.write(f"\r\x1b[K{line[: max(20, width - 1)]}")
        elif always or now - self._printed >= PIPE_SECONDS:
            self._printed = now
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def close(self) -> None:
        """Take the live line away."""
        if self._live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def replay_lines(found: Replayed, keep: Path | None) -> Iterator[Any]:
    """Yield the report, and where the replay's files are kept."""
    yield from found.lines()
    if keep is not None:
        yield f"its files: {keep}"
