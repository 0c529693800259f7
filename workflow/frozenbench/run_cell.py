"""run_cell: let one agent work on one task under one budget, and write what happened.

It catches everything, writes run.json last, and exits 0 also for ERROR and EXHAUSTED: a non-zero
exit means that the machinery is broken, not the agent. It knows nothing of the grader.
"""

from __future__ import annotations

import importlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from frozenbench import keys, layout
from frozenbench.adapters.contract import Cell, Purse, Use
from frozenbench.canonical import (
    BadInput,
    File,
    Refused,
    canonical_json,
    digest,
    read_json,
    read_tree,
    tree_digest,
    write_json,
)
from frozenbench.frozen import read_controls, read_frozen_task
from frozenbench.gateway.machine import machine_class
from frozenbench.gateway.record import Store, read_clock, write_clock
from frozenbench.outcomes import cap_of
from frozenbench.run import meters as metering
from frozenbench.run.clock import AgentClock
from frozenbench.run.loop import Ended, Loop, Step
from frozenbench.run.snapshots import difference
from frozenbench.sandbox import base_folder, in_force, require
from frozenbench.seal import sealed


@dataclass(frozen=True)
class RunInputs:
    """The frozen files of one cell, all below results/."""

    controls: Path
    task_files: Path
    agent_files: Path | None
    solution: Path | None
    environment: Path
    agent: str
    task: str
    budget: str
    repeat: int
    startup_timeout_s: float = 300.0
    max_spend: float | None = None
    replay: bool = False  # nothing is asked of an endpoint: the record answers, or nobody


def run_cell(inputs: RunInputs, out: Path) -> None:
    """Run one cell and write `out`: run.json, trace.jsonl, snapshots/, log.

    Raises:
        BadInput: frozen files do not have the digests that the controls promise.
        Refused: the machine gives less isolation than the controls ask for, or the experiment has
            spent what it may; then nothing is written.
    """
    controls = read_controls(inputs.controls)
    cell_of = (inputs.agent, inputs.task, inputs.budget, inputs.repeat)
    material = keys.run_material(controls, *cell_of)
    run_key = digest(material)
    if out.name != run_key:
        raise BadInput(f"{out}: is not the path of {cell_of}; cure: {layout.run(run_key)}")
    isolation = in_force(material["isolation"], require(material["isolation"]).level)
    warm = is_warm(inputs.environment.name)
    _clear(out)
    task, fixture = read_frozen_task(inputs.task_files, material["task_digest"])
    sheet = material["agent_sheet"]
    adapter = importlib.import_module(f"frozenbench.adapters.{sheet['adapter']}")
    clock = AgentClock(virtual=getattr(adapter, "VIRTUAL_CLOCK", False))
    # What an agent says may hold halves of characters, which no file can.
    with (out / "log").open("w", encoding="utf-8", errors="replace") as log:
        cell = _cell(inputs, controls, material, run_key, fixture, task, clock, log)
        try:
            ended, began = _run(cell, adapter, out, clock)
        except Refused:  # all that may be spent is spent: the cell stays open
            _clear(out)
            with suppress(OSError):  # earlier attempts stay
                out.rmdir()
            raise
        if ended.message:
            log.write(ended.message + "\n")
    if ended.clock_event is not None and not getattr(adapter, "VIRTUAL_CLOCK", False):
        write_clock(layout.RESPONSES, run_key, ended.clock_event)
    where = {"isolation_measured": isolation, "warm": warm, "machine_class": machine_class()}
    _write_run(out, run_key, material, fixture, ended, {**where, "startup_seconds": began})


def is_warm(environment_id: str) -> bool:
    """Tell whether a cell used this environment on this machine since it booted, and say it did."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    booted = boot.read_text().strip() if boot.exists() else ""
    marker = base_folder() / f"warm-{digest([environment_id, booted])[:16]}"
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return True
    return False


def _clear(out: Path) -> None:
    """Remove what a killed attempt left; finished attempts that were set aside stay."""
    out.mkdir(parents=True, exist_ok=True)
    for item in out.iterdir():
        if item.name == "attempts":
            continue
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        else:
            item.unlink()


def _cell(
    inputs: RunInputs,
    controls: Mapping[str, Any],
    material: Mapping[str, Any],
    run_key: str,
    fixture: Mapping[str, File],
    task: Mapping[str, Any],
    clock: AgentClock,
    log: TextIO,
) -> Cell:
    agent: dict[str, Any] = {"connection": {}, "roots": []}
    code = None
    if inputs.agent_files is not None:
        agent = _agent(inputs.agent_files)
        code_folder = inputs.agent_files / "code"
        code = code_folder if code_folder.is_dir() else None
        _check_code(code, material["agent_sheet"], inputs.agent_files)

    def write_log(text: str) -> None:
        log.write(text.rstrip("\n") + "\n")

    return Cell(
        task_id=task["id"],
        task_digest=material["task_digest"],
        prompt=task["prompt"],
        artifact=tuple(task["artifact"]),
        fixture=fixture,
        caps=material["caps"],
        budget_disclosed=material["budget_disclosed"],
        repeat=inputs.repeat,
        sheet=material["agent_sheet"],
        connection=agent["connection"],
        code=code,
        isolation=controls["environment"]["isolation"],
        environment=inputs.environment,
        responses=layout.RESPONSES,
        responses_policy=controls["responses_policy"],
        run_key=run_key,
        clock=clock,
        log=write_log,
        solution=_solution(inputs, material),
        startup_timeout_s=inputs.startup_timeout_s,
        network=task["network"],
        roots=tuple(agent["roots"]),
        replay=inputs.replay,
        purse=_purse(inputs, material["agent_sheet"], agent["connection"]),
    )


def _purse(
    inputs: RunInputs, sheet: Mapping[str, Any], connection: Mapping[str, Any]
) -> Purse | None:
    """Return what counts the cell's spend, beside the controls of its experiment."""
    prices = connection.get("prices")
    if prices is None or inputs.replay or "endpoint" not in sheet:
        return None
    from frozenbench.gateway.ledger import CellPurse, Ledger, beside

    ledger = Ledger(beside(inputs.controls))
    return CellPurse(ledger, inputs.agent, sheet["endpoint"]["wire"], prices, inputs.max_spend)


def _agent(folder: Path) -> dict[str, Any]:
    agent = read_json(folder / "agent.json")
    if digest(agent) != folder.name:
        raise BadInput(
            f"{folder}/agent.json: was changed after it was frozen; cure: remove the folder, it is "
            "frozen again"
        )
    found: dict[str, Any] = agent
    return found


def _check_code(code: Path | None, sheet: Mapping[str, Any], where: Path) -> None:
    if "code_sha256" in sheet and (
        code is None or tree_digest(read_tree(code)) != sheet["code_sha256"]
    ):
        raise BadInput(
            f"{where}: the agent's code was changed after it was frozen; cure: remove the folder, it is "
            "frozen again"
        )


def _solution(inputs: RunInputs, material: Mapping[str, Any]) -> Mapping[str, File] | None:
    if inputs.solution is None:
        return None
    solution = read_tree(inputs.solution)
    if tree_digest(solution) != material["agent_sheet"].get("solution_sha256"):
        raise BadInput(
            f"{inputs.solution}: was changed after it was frozen; cure: remove its grader's folder, it "
            "is frozen again"
        )
    return solution


def _run(cell: Cell, adapter: Any, out: Path, clock: AgentClock) -> tuple[Ended, float]:
    """Run the loop with the trace open; return how it ended and the start-up time, s."""
    reports: frozenset[str] = getattr(adapter, "REPORTS", frozenset())
    counted = adapter.METERS | reports
    control = getattr(adapter, "VIRTUAL_CLOCK", False)
    if control:
        counted = counted - {"tokens"}
    model = "endpoint" in cell.sheet
    forced, caps = _clock_and_caps(cell, adapter)
    entered = time.monotonic()
    startup: list[float] = []

    def start() -> None:
        startup.append(time.monotonic() - entered)
        clock.start()

    with (out / "trace.jsonl").open("w", encoding="utf-8", errors="replace") as trace:

        def emit(event: dict[str, Any]) -> None:
            told = {**event, "seconds": round(clock.elapsed(), 6)}
            trace.write(json.dumps(told, ensure_ascii=False, sort_keys=True) + "\n")
            trace.flush()

        begun = metering.start(counted, model)
        if getattr(adapter, "GATEWAY", False):
            # Only a cell behind the gateway pays for its import.
            from frozenbench.run.gateway_loop import GatewayLoop

            behind = GatewayLoop(cell, adapter.open_agent(cell), begun, emit, forced)
            ended = behind.run(start)
        else:
            loop = Loop(cell.fixture, caps, clock, begun, emit, forced)
            ended = loop.run(adapter.open_agent(cell), start)
    if reports and ended.ending not in ("finished", "gave_up"):
        ended = _without_report(ended)
    return ended, startup[0] if startup else time.monotonic() - entered


def _clock_and_caps(cell: Cell, adapter: Any) -> tuple[int | None, Mapping[str, float]]:
    """Return the event at which the record lets the clock fall, and the caps of a loop.

    In a replay no clock falls but where the record says. Of a program that proposes nothing, what
    its folder held when its clock fell is found by letting it fall again.
    """
    if "endpoint" not in cell.sheet and not cell.replay:
        return None, cell.caps
    fell = read_clock(layout.RESPONSES, cell.run_key)
    if not cell.replay:
        return fell, cell.caps
    if fell is not None and "tool_calls" not in adapter.METERS:
        return None, cell.caps
    from frozenbench.run.metered import REPLAY_PATIENCE

    return fell, {**cell.caps, "wall_clock": cell.caps["wall_clock"] * REPLAY_PATIENCE}


def _without_report(ended: Ended) -> Ended:
    """Return the end of an agent that never told what it used: that is unknown, never 0."""
    steps = tuple(replace(s, meters=metering.delivered(s.meters, Use(), None)) for s in ended.steps)
    return replace(ended, steps=steps, meters=metering.delivered(ended.meters, Use(), None))


def _write_run(
    out: Path,
    run_key: str,
    material: Mapping[str, Any],
    fixture: Mapping[str, File],
    ended: Ended,
    measured: Mapping[str, Any],
) -> None:
    steps = [_step(out, fixture, step) for step in ended.steps]
    dates = sorted(served.date for served in ended.served)
    answers = _answers({served.key for served in ended.served})
    last = ended.steps[-1].tree if ended.steps else fixture
    document: dict[str, Any] = {
        "run_key": run_key,
        "material": material,
        "ending": ended.ending,
        "cap_hit": cap_of(ended.ending),
        "hits": list(ended.hits),
        "clock_event": ended.clock_event,
        "message": ended.message[:4000].encode("utf-8", "replace").decode(),
        "artifact_sha256": tree_digest(last),
        "artifact_limit": ended.artifact_limit,
        "meters": ended.meters.as_dict(),
        "steps": steps,
        "measured": {
            "seconds": ended.seconds,
            "step_seconds": [step.seconds for step in ended.steps],
            "model_seconds": sum(served.seconds for served in ended.served),
            **measured,
            "spend": ended.spend,
            "currency": ended.currency,
            "infra_retries": ended.infra_retries,
            "attempts": _attempts(out) + 1,
            "responses_recorded": sum(served.recorded for served in ended.served),
            "responses_live": sum(not served.recorded for served in ended.served),
            "model_observed": ended.observed_model,
        },
        "responses": {
            "keys": list(answers),
            "sha256": list(answers.values()),
            "first_date": dates[0] if dates else None,
            "last_date": dates[-1] if dates else None,
        },
    }
    if ended.gateway is not None:
        document["gateway"] = dict(ended.gateway)
    if drift := [served.drift for served in ended.served if served.drift is not None]:
        document["drift"] = drift
    write_json(out / "run.json", sealed(document, out, "run.json"))


def _answers(keys: Iterable[str]) -> dict[str, str | None]:
    """Return record key -> digest of its entry, sorted: what `verify` holds the store to."""
    store = Store(layout.RESPONSES)
    found = {key: store.get(key) for key in sorted(keys)}
    return {key: None if item is None else digest(item.to_json()) for key, item in found.items()}


def _attempts(out: Path) -> int:
    folder = out / "attempts"
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


def _step(out: Path, fixture: Mapping[str, File], step: Step) -> dict[str, Any]:
    """Write the step's snapshot if it changed the tree; return its line of run.json."""
    name = None
    if step.changed:
        name = f"{step.index:04d}.json"
        folder = out / "snapshots"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(canonical_json(difference(fixture, step.tree)) + b"\n")
    return {
        "step": step.index,
        "snapshot": name,
        "meters": step.meters.as_dict(),
    }
