"""try: one small task of an agent against a scripted endpoint, and what was metered of it.

It is a cell like any other, run by run_cell in the sandbox, in a project of its own that is removed
at the end: no key, no model, no network, and nothing in results/.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenbench import layout
from frozenbench.build_environment import build_environment
from frozenbench.canonical import BadInput, File, read_json, write_tree
from frozenbench.config import read_yaml
from frozenbench.freeze_agent import freeze_agent
from frozenbench.freeze_controls import freeze_controls
from frozenbench.freeze_task import freeze_task
from frozenbench.packs.reader import safe_path
from frozenbench.plan import Plan, load_plan
from frozenbench.preflight import preflight
from frozenbench.preset_files import OWN, preset_names, read_preset
from frozenbench.run.snapshots import restore
from frozenbench.run_cell import RunInputs, run_cell
from frozenbench.sandbox import Box, Limits, run, work_folder
from frozenbench.schema import nearest
from frozenbench.scripted_endpoint import Script, parse_script, scripted_endpoint
from frozenbench.scripted_endpoint.server import with_model

TASK, BUDGET, AGENT = "add", "try", "tried"
MODEL = "scripted-1"
APP = "def add(a, b):\n    return a + b\n"
PROMPT = "Write a file app.py with a function add(a, b) that returns the sum of a and b.\n"
CHECK = "import app; assert app.add(1, 2) == 3 and app.add(-1, 1) == 0"

#: Played where no script is named: a file, a look at it, two calls in one answer, the end.
DEFAULT_SCRIPT: Mapping[str, Any] = {
    "steps": [
        {"say": "I write the file.", "write": {"path": "app.py", "content": APP}},
        {"run": "ls"},
        {"calls": [{"run": f"python3 -c '{CHECK}'"}, {"read": "app.py"}]},
        {"finish": "Done."},
    ]
}
#: Endings in which the agent worked until it stopped or was stopped.
_WORKED = ("finished", "gave_up", "cap:")


@dataclass(frozen=True)
class Tried:
    """What one trial left.

    Attributes:
        run: run.json.
        trace: its events.
        log: what agent and harness printed.
        asked: one line for each request that reached the endpoint.
        solved: whether the function is right.
        sheet: the agent's sheet.
        unpinned: what it leaves open.
        edits: how the preset says that it edits; None without one.
    """

    run: Mapping[str, Any]
    trace: tuple[Mapping[str, Any], ...]
    log: str
    asked: tuple[str, ...]
    solved: bool
    sheet: Mapping[str, Any]
    unpinned: tuple[str, ...]
    edits: str | None

    @property
    def status(self) -> int:
        """Exit status: 0 where the agent worked to its end or to a cap, else 1."""
        return 0 if str(self.run["ending"]).startswith(_WORKED) else 1

    def lines(self, verbose: bool = False) -> Iterator[str]:
        """Yield what was found, for people; `verbose` adds every request, event and the log."""
        if verbose:
            yield from ("requests that reached the endpoint:", *(f"  {x}" for x in self.asked))
            yield from ("trace:", *(f"  {json.dumps(event)}" for event in self.trace))
            yield from ("log:", *(f"  {line}" for line in self.log.splitlines()))
        yield from _agent_lines(self)
        yield from _run_lines(self)


def _agent_lines(tried: Tried) -> Iterator[str]:
    sheet = tried.sheet
    program = sheet.get("program")
    if program:
        yield f"program       {program['name']} {program['version']}, digest {program['digest']}"
    edits = f", edits by {tried.edits}" if tried.edits else ""
    yield f"adapter       {sheet['adapter']}, wire {sheet['endpoint']['wire']}{edits}"
    gateway = tried.run.get("gateway") or {}
    pins = gateway.get("pins") or {}
    written = {"model": sheet["endpoint"]["model"]}
    written |= {name: sheet[name] for name in ("temperature", "seed") if name in sheet}
    pinned = pins.get("written", written)
    yield f"pinned        {', '.join(f'{name} {value}' for name, value in pinned.items())}"
    yield f"unpinned      {', '.join(tried.unpinned) or 'nothing'}"
    schema = gateway.get("tools_sha256")
    if "gateway" in tried.run:
        yield f"tool schema   {schema or 'no tools offered'}"


def _run_lines(tried: Tried) -> Iterator[str]:
    run, meters, measured = tried.run, tried.run["meters"], tried.run["measured"]
    cap = f" (cap {run['cap_hit']})" if run["cap_hit"] else ""
    yield f"ending        {run['ending']}{cap}"
    if run["message"]:
        yield f"message       {run['message'].splitlines()[0]}"
    yield f"requests      {len(tried.asked)} reached the endpoint"
    for name in ("tool_calls", "edit_rounds"):
        yield f"{name:<13} {_told(meters[name])}"
    parts = [f"{part} {_told(meters[f'tokens_{part}'])}" for part in ("input", "output", "cached")]
    yield f"tokens        {_told(meters['tokens'])} ({', '.join(parts)})"
    startup = measured["startup_seconds"]
    yield f"seconds       {measured['seconds']:.2f} on the clock, {startup:.2f} before it"
    yield f"task          {'solved' if tried.solved else 'not solved'}"


def _told(value: Any) -> str:
    return "not reported" if value is None else str(value)


def try_agent(
    name: str, root: Path = Path(), script: Script | None = None, caps: Mapping[str, float] = {}
) -> Tried:
    """Run one task of an agent against a scripted endpoint, in the sandbox.

    Args:
        name: an agent of the project in `root`, or a preset.
        root: the project.
        script: what the endpoint plays.
        caps: caps of the budget by field, such as max_tool_calls; max_seconds is 300 by default.

    Raises:
        BadInput: there is no such agent or preset, or its file is wrong.
        Refused: this machine gives less isolation than the default.
    """
    data, edits = _agent_data(name, root.resolve())
    played = script or parse_script(DEFAULT_SCRIPT)
    model = data["endpoint"].setdefault("model", MODEL)
    with (
        scripted_endpoint(with_model(played, model)) as endpoint,
        tempfile.TemporaryDirectory(prefix="frozenbench-try-") as folder,
    ):
        data["endpoint"]["base_url"] = endpoint.root
        project = Path(folder)
        _write_project(project, root.resolve(), data, caps)
        with contextlib.chdir(project):
            plan = preflight(load_plan())
            out = _run_cell(plan)
            agent = plan.agents[AGENT]
            found = read_json(out / "run.json")
            trace = (out / "trace.jsonl").read_text("utf-8").splitlines()
            return Tried(
                run=found,
                trace=tuple(json.loads(line) for line in trace),
                log=(out / "log").read_text("utf-8"),
                asked=tuple(endpoint.lines()),
                solved=_solved(plan, out, found),
                sheet=agent.sheet,
                unpinned=agent.unpinned,
                edits=edits,
            )


def _agent_data(name: str, root: Path) -> tuple[dict[str, Any], str | None]:
    """Return an agent's file with an endpoint that has no address yet, and how it edits.

    Its own endpoint is left alone: neither its address nor its key is used.
    """
    where = f"config/agents/{name}.yaml"
    presets = preset_names(root)
    if (root / where).is_file():
        data = read_yaml(root / where, where)
    elif name in presets:
        data = {"preset": name, "endpoint": {}}
    else:
        agents = [path.stem for path in (root / "config" / "agents").glob("*.yaml")]
        raise BadInput(
            f"try: {name!r} is no agent and no preset{nearest(name, [*agents, *presets])}; "
            "cure: one of these"
        )
    preset = data.get("preset")
    endpoint = data.get("endpoint")
    if not isinstance(endpoint, Mapping):
        raise BadInput(
            f"{where}: endpoint: is missing; cure: only an agent that asks a model can be tried"
        )
    kept = {key: value for key, value in endpoint.items() if key in ("id", "wire", "model")}
    data["endpoint"] = {"id": "scripted", **kept}
    data.pop("prices", None)
    edits = read_preset(root, str(preset), where).edits if preset else None
    return data, edits


def _write_project(
    project: Path, root: Path, data: Mapping[str, Any], caps: Mapping[str, float]
) -> None:
    """Write a project of one agent, one task and one budget."""
    config = {
        "experiment": {"name": "trial"},
        "pack": {"path": "packs/trial"},
        "agents": [AGENT],
        "budgets": [{"name": BUDGET, "max_seconds": 300, **caps}],
        "budget_axis": next(iter(caps), "max_seconds"),
        "clock": "strict",
    }
    info = {"name": "trial", "status": "proposal", "licence": "MIT", "source": "frozenbench try"}
    task = {"id": TASK, "prompt": PROMPT, "artifact": ["app.py"], "grade": ["python", "-c", CHECK]}
    task["grader_trust"] = "exit-status"
    files = {
        "config/config.yaml": config,
        f"config/agents/{AGENT}.yaml": data,
        "packs/trial/pack.json": {**info, "python": ">=3.11"},
        "packs/trial/pack.jsonl": task,
    }
    for path, content in files.items():  # JSON is YAML too
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(json.dumps(content) + "\n", encoding="utf-8")
    if (root / OWN).is_dir():
        shutil.copytree(root / OWN, project / OWN)
    for name in data.get("code") or ():
        source = safe_path(root, str(name), "code", "project")
        target = project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.is_file():
            shutil.copy(source, target)


def _run_cell(plan: Plan) -> Path:
    """Freeze what the cell needs and run it, in the current folder; return the run's folder."""
    task = plan.tasks[TASK]
    task_files = layout.frozen_task(task.digest)
    agent_files = layout.frozen_agent(plan.agents[AGENT].frozen_digest)
    controls = plan.folder / "controls.json"
    freeze_controls(plan, controls)
    freeze_task(Path(plan.config.pack.path), TASK, task_files)
    freeze_agent(AGENT, agent_files)
    environment = layout.environment(plan.environment_id)
    build_environment(None, environment)
    (cell,) = (cell for cell in plan.cells if cell.agent == AGENT)
    inputs = RunInputs(
        controls=controls,
        task_files=task_files,
        agent_files=agent_files,
        solution=None,
        environment=environment,
        agent=AGENT,
        task=TASK,
        budget=BUDGET,
        repeat=0,
    )
    out = layout.run(cell.run_key)
    run_cell(inputs, out)
    return out


def _solved(plan: Plan, out: Path, found: Mapping[str, Any]) -> bool:
    """Tell whether the artifact's function is right, by importing it in a box."""
    names = [step["snapshot"] for step in found["steps"] if step["snapshot"]]
    if not names:
        return False
    snapshot = read_json(out / "snapshots" / names[-1])
    tree: dict[str, File] = restore(plan.tasks[TASK].fixture, snapshot, names[-1])
    with work_folder() as work:
        write_tree(tree, work)
        box = Box(plan.config.isolation, work, limits=Limits(seconds=20))
        return run(box, [box.python, "-c", CHECK]).exit_status == 0
