"""A project folder whose cells are frozen, run and graded by the real functions, one at a time."""

from __future__ import annotations

import base64
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from frozenbench import layout
from frozenbench.canonical import File
from frozenbench.freeze_agent import freeze_agent
from frozenbench.freeze_controls import freeze_controls
from frozenbench.freeze_expected import freeze_expected, read_expected
from frozenbench.freeze_grader import freeze_grader
from frozenbench.freeze_task import freeze_task
from frozenbench.grade.grading import Graded, grade_tree, read_grader
from frozenbench.grade_cell import GradeInputs, grade_cell
from frozenbench.plan import DEFAULT_CONFIG, Plan, PlannedCell, load_plan
from frozenbench.run_cell import RunInputs, run_cell

STARTER_LOCK = Path(__file__).parents[1] / "packs" / "starter" / "requirements.txt"
PACK = "packs/small"

Files = Mapping[str, str | bytes]

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
HIDDEN = """
from app import add


def test_small():
    assert add(1, 2) == 3


def test_zero():
    assert add(0, 0) == 0


def test_negative():
    assert add(-1, -2) == -3
"""


def proposing(*proposals: Any, before: str = "") -> str:
    """Return the source of an agent that makes these proposals, one a call, then raises."""
    return (
        f"{before}\nPROPOSALS = {list(proposals)!r}\n\ndef propose(task, history):\n"
        "    return PROPOSALS[len(history)]\n"
    )


def app(text: str, **more: Any) -> dict[str, Any]:
    """Return a proposal that writes the file to be corrected."""
    return {"files": {"app.py": text}, **more}


@dataclass(frozen=True)
class Cell:
    """What the two halves of one cell left."""

    folder: Path
    run: Mapping[str, Any]
    grade: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def log(self) -> str:
        """The run's log."""
        return (self.folder / "log").read_text()

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The run's events."""
        return [json.loads(line) for line in (self.folder / "trace.jsonl").open()]

    @property
    def events(self) -> list[str]:
        """What happened, in order."""
        return [event["event"] for event in self.trace]

    @property
    def outcome(self) -> tuple[str, str, str | None]:
        """Outcome, reason and hit cap."""
        return self.grade["outcome"], self.grade["reason"], self.grade["cap_hit"]

    def changed(self, step: int = -1) -> dict[str, str | bytes]:
        """Return what the snapshot of a step adds or changes (default: the last one)."""
        name = [line["snapshot"] for line in self.run["steps"] if line["snapshot"]][step]
        snapshot = json.loads((self.folder / "snapshots" / name).read_bytes())
        return {
            path: item["text"] if "text" in item else base64.b64decode(item["base64"])
            for path, item in snapshot["changed"].items()
        }

    def deleted(self) -> list[str]:
        """Return what the last snapshot deletes."""
        name = [line["snapshot"] for line in self.run["steps"] if line["snapshot"]][-1]
        found: list[str] = json.loads((self.folder / "snapshots" / name).read_bytes())["deleted"]
        return found


class CellProject:
    """A project in the current folder: tasks, agents and settings are added, then cells run."""

    def __init__(self, root: Path, environment: Path, names: Path) -> None:
        self.root, self.environment, self.names = root, environment, names
        self.lines: dict[str, dict[str, Any]] = {}
        self.agents: list[str] = []
        self.config: dict[str, Any] = {
            "experiment": {"name": "small"},
            "pack": {"path": PACK},
            "budgets": [{"name": "b", "max_tool_calls": 4, "max_seconds": 20}],
            "budget_axis": "max_seconds",
        }
        info = {"name": "small", "status": "proposal", "licence": "MIT", "source": "tests"}
        self.write({"pack.json": json.dumps({**info, "python": ">=3.11"})})
        self.write({"requirements.txt": STARTER_LOCK.read_bytes()})

    def write(self, files: Files, below: str = PACK) -> None:
        """Write files below a folder of the project."""
        for name, content in files.items():
            path = self.root / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def task(
        self,
        name: str = "add",
        *,
        fixture: Files | None = None,
        hidden: Files | None = None,
        solution: Files | None = None,
        **line: Any,
    ) -> None:
        """Add or replace a task: by default a function to correct, with three hidden tests."""
        for kind in ("fixtures", "solutions"):
            shutil.rmtree(self.root / PACK / kind / name, ignore_errors=True)
        (self.root / PACK / "fixtures" / name).mkdir(parents=True)
        self.write({"app.py": WRONG} if fixture is None else fixture, f"{PACK}/fixtures/{name}")
        self.write({"tests/test_app.py": HIDDEN} if hidden is None else hidden)
        if solution is not None or fixture is None:
            self.write(solution or {"app.py": RIGHT}, f"{PACK}/solutions/{name}")
        self.lines[name] = {
            "id": name,
            "prompt": f"Correct {name}.\n",
            "fixture_dir": f"fixtures/{name}",
            "grade": ["pytest", "-q", "tests/test_app.py"],
            **line,
        }

    def agent(self, source: str | None = None, name: str = "agent", **fields: Any) -> None:
        """Add an agent: by default one of the python adapter whose module holds `source`."""
        data: dict[str, Any] = {"adapter": "python"} | fields
        if source is not None:
            self.write({f"{name}.py": source}, "agents")
            data.setdefault("code", [f"agents/{name}.py"])
        if data["adapter"] == "python":
            data = {"module": name, **data}
        self.write({f"{name}.yaml": yaml.safe_dump(data)}, "config/agents")
        if name not in self.agents:
            self.agents.append(name)

    def budget(self, **caps: Any) -> None:
        """Replace the only budget."""
        self.config["budgets"] = [{"name": "b", "max_seconds": 20} | caps]

    def plan(self) -> Plan:
        """Plan the experiment as it stands."""
        lines = "".join(json.dumps(line) + "\n" for line in self.lines.values())
        self.write({"pack.jsonl": lines})
        agents = self.agents or ["agent"]
        if not self.agents:
            self.agent("")
        self.write({DEFAULT_CONFIG: yaml.safe_dump({**self.config, "agents": agents})}, ".")
        return load_plan()

    def run(self, agent: str = "agent", task: str = "add", **more: Any) -> Cell:
        """Freeze what the cell needs and run it."""
        plan = self.plan()
        inputs, out = self.run_inputs(plan, self.cell(plan, agent, task), **more)
        begun = time.monotonic()
        run_cell(inputs, out)
        return Cell(out, json.loads((out / "run.json").read_bytes()), {}, time.monotonic() - begun)

    def grade(self, agent: str = "agent", task: str = "add") -> Cell:
        """Grade the cell that was run."""
        plan = self.plan()
        cell = self.cell(plan, agent, task)
        inputs, out = self.grade_inputs(plan, cell)
        begun = time.monotonic()
        grade_cell(inputs, out)
        seconds = time.monotonic() - begun
        run = json.loads((inputs.run / "run.json").read_bytes())
        return Cell(inputs.run, run, json.loads((out / "grade.json").read_bytes()), seconds)

    def both(self, agent: str = "agent", task: str = "add") -> Cell:
        """Run and grade a cell."""
        self.run(agent, task)
        return self.grade(agent, task)

    def share_verdicts(self) -> None:
        """Use verdicts of other projects of this session: a verdict belongs to its content."""
        shared = self.environment.parent / "verdicts"
        shared.mkdir(exist_ok=True)
        (self.root / "results").mkdir()
        (self.root / layout.VERDICTS).symlink_to(shared)

    def verdict(self, artifact: Mapping[str, str | bytes | None], task: str = "add") -> Graded:
        """Grade an artifact, given as what it changes in the fixture; None deletes."""
        plan = self.plan()
        inputs, _ = self.grade_inputs(plan, self.cell(plan, "noop", task))
        fixture = plan.tasks[task].fixture
        tree = dict(fixture)
        for path, content in artifact.items():
            if content is None:
                del tree[path]
            else:
                tree[path] = File(content if isinstance(content, bytes) else content.encode())
        grader, expected = read_grader(inputs.grader_files), read_expected(inputs.expected)
        isolation = plan.config.isolation
        return grade_tree(grader, tree, fixture, self.environment, isolation, expected)

    def proposed(self, *proposals: dict[str, Any]) -> Cell:
        """Run and grade an agent that makes these proposals, then raises."""
        self.agent(proposing(*proposals))
        return self.both()

    @staticmethod
    def cell(plan: Plan, agent: str, task: str) -> PlannedCell:
        """Return the only cell of an agent and a task."""
        (found,) = (cell for cell in plan.cells if (cell.agent, cell.task) == (agent, task))
        return found

    def controls(self, plan: Plan) -> Path:
        """Freeze the controls."""
        path = plan.folder / "controls.json"
        freeze_controls(plan, path)
        return path

    def run_inputs(self, plan: Plan, cell: PlannedCell, **more: Any) -> tuple[RunInputs, Path]:
        """Freeze what a run needs, as the rules do."""
        task = plan.tasks[cell.task]
        task_files = layout.frozen_task(task.digest)
        freeze_task(self.root / PACK, task.id, task_files)
        agent_files = solution = None
        if not cell.control:
            agent_files = layout.frozen_agent(plan.agents[cell.agent].frozen_digest)
            freeze_agent(cell.agent, agent_files)
        if cell.agent == "reference":
            grader_files = layout.frozen_grader(task.grader.digest)
            freeze_grader(self.root / PACK, task.id, grader_files)
            solution = grader_files / "solution"
        inputs = RunInputs(
            controls=self.controls(plan),
            task_files=task_files,
            agent_files=agent_files,
            solution=solution,
            environment=self.environment,
            agent=cell.agent,
            task=cell.task,
            budget=cell.budget,
            repeat=cell.repeat,
            **more,
        )
        return inputs, layout.run(cell.run_key)

    def grade_inputs(self, plan: Plan, cell: PlannedCell) -> tuple[GradeInputs, Path]:
        """Freeze what a grade needs, as the rules do; what is frozen already stays."""
        task = plan.tasks[cell.task]
        task_files = layout.frozen_task(task.digest)
        grader_files = layout.frozen_grader(task.grader.digest)
        expected = plan.expected_path(task)
        if not (task_files / "task.json").exists():
            freeze_task(self.root / PACK, task.id, task_files)
        if not (grader_files / "grader.json").exists():
            freeze_grader(self.root / PACK, task.id, grader_files)
        # What the reference passes costs a grade: the same for all projects of a session.
        known = self.environment.parent / "expected" / expected.name
        if not known.exists():
            isolation = plan.config.isolation
            freeze_expected(grader_files, task_files, self.environment, isolation, known)
        if not expected.exists():
            expected.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(known, expected)
        inputs = GradeInputs(
            controls=self.controls(plan),
            run=layout.run(cell.run_key),
            task_files=task_files,
            grader_files=grader_files,
            expected=expected,
            names=self.names,
            environment=self.environment,
            agent=cell.agent,
            task=cell.task,
            budget=cell.budget,
            repeat=cell.repeat,
        )
        return inputs, layout.grade(cell.grade_key)


def processes_with(mark: str) -> list[int]:
    """Return the living processes of this machine whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in words and state != "Z":
            found.append(int(entry.name))
    return found


def files_with(folder: Path, *traces: str) -> list[tuple[str, str]]:
    """Return (file, trace) for each file below `folder` whose bytes or name hold a trace."""
    found = []
    for path in folder.rglob("*"):
        held = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        name = path.relative_to(folder).as_posix()
        found += [(name, t) for t in traces if t.encode() in held or t in name]
    return found
