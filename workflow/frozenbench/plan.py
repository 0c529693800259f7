"""config -> experiment -> cells -> keys -> paths, at parse time.

The plan is computed when the Snakefile is parsed, so that `snakemake -n` shows exactly what would
be run and paid for. It reads files and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from frozenbench import __version__, keys, layout
from frozenbench.agent_files import AgentFile, read_agent
from frozenbench.canonical import BadInput, digest, sha256_file, tree_digest
from frozenbench.config import parse_config, read_yaml
from frozenbench.controls import (
    CAP_FIELDS,
    GRADE_SEMANTICS,
    METRIC,
    RESERVED_AGENTS,
    RUN_SEMANTICS,
    VIEW_SEMANTICS,
    Budget,
    Config,
)
from frozenbench.packs import Pack, Task, read_pack

DEFAULT_CONFIG = "config/config.yaml"


@dataclass(frozen=True)
class PlannedCell:
    """One cell: names for people, keys for the store."""

    agent: str
    task: str
    budget: str
    repeat: int
    control: bool
    run_key: str
    grade_key: str

    @property
    def label(self) -> str:
        """How a job's line and `explain` name it."""
        return f"{self.agent} {self.task} {self.budget} repeat {self.repeat}"


@dataclass(frozen=True)
class Plan:
    """One experiment, planned whole."""

    where: str
    config: Config
    pack: Pack
    agents: Mapping[str, AgentFile]
    root: Path = Path()

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The experiment's tasks by id, in the order of the pack."""
        chosen = set(self.config.tasks or [task.id for task in self.pack.tasks])
        return {task.id: task for task in self.pack.tasks if task.id in chosen}

    @cached_property
    def budgets(self) -> dict[str, Budget]:
        """The budgets by name, in the order of the axis; no cap counts as the largest."""

        def order(budget: Budget) -> tuple[float, str]:
            value = getattr(budget, self.config.budget_axis)
            return (float("inf") if value is None else value, budget.name)

        return {budget.name: budget for budget in sorted(self.config.budgets, key=order)}

    @cached_property
    def content(self) -> dict[str, Any]:
        """The controls, without the experiment's own name: the experiment digest is over this."""
        return {
            "pack": {
                "digest": self.pack.digest,
                "lock_sha256": self.pack.lock_sha256,
                "python": self.pack.info.python,
            },
            "tasks": {task.id: _task_controls(task) for task in self.tasks.values()},
            "agents": _agent_controls(self.agents),
            "budgets": {name: _budget_controls(budget) for name, budget in self.budgets.items()},
            "repeats": self.config.repeats,
            "grading": self.config.grading,
            "metric": METRIC,
            "budget_disclosed": self.config.budget_disclosed,
            "clock": self.config.clock,
            "responses_policy": self.config.responses.policy,
            "task_subset": None if self.config.tasks is None else sorted(self.config.tasks),
            "accepted": self.config.accepted(),
            "environment": {
                "python": self.pack.info.python,
                "lock_sha256": self.pack.lock_sha256,
                "isolation": self.config.isolation,
                "network": network_policy(self.config.isolation),
                "run_semantics": RUN_SEMANTICS,
                "grade_semantics": GRADE_SEMANTICS,
            },
        }

    @cached_property
    def digest(self) -> str:
        """The experiment digest."""
        return digest(self.content)

    @property
    def name(self) -> str:
        """The experiment's name: its folder under results/."""
        return self.config.experiment.name

    @cached_property
    def controls(self) -> dict[str, Any]:
        """The controls document, as controls.json and the tables' metadata hold it."""
        return {**self.content, "experiment": {"name": self.name, "digest": self.digest}}

    @cached_property
    def view(self) -> dict[str, Any]:
        """The view document: what changes pictures and no cell."""
        config = self.config
        content = {
            "title": config.title,
            "question": config.experiment.question,
            "budget_axis": config.budget_axis,
            "figures": list(config.figures),
            "focus": None if config.focus is None else list(config.focus),
            "statistics": asdict(config.statistics),
            "agents": list(config.agents),
            "budgets": list(self.budgets),
            "pack": {
                **{k: v for k, v in asdict(self.pack.info).items() if k != "python"},
                "file_sha256": self.pack.file_sha256,
            },
            "drawn_by": {
                "frozenbench": __version__,
                "view_semantics": VIEW_SEMANTICS,
                "matplotlib": version("matplotlib"),
                "numpy": version("numpy"),
                "scipy": version("scipy"),
                "pyarrow": version("pyarrow"),
                "jinja2": version("jinja2"),
            },
        }
        return {**content, "digest": digest(content)}

    @property
    def view_digest(self) -> str:
        """The view digest."""
        return str(self.view["digest"])

    @cached_property
    def environment_id(self) -> str:
        """Identity of the pack environment on this machine."""
        return keys.environment_id(self.pack.lock_sha256)

    @cached_property
    def record_id(self) -> str:
        """Identity of the committed record's bytes; `none` where none is named or there."""
        record = self.config.responses.record
        if record is None or not Path(record).is_file():
            return "none"
        return sha256_file(Path(record))[:16]

    @cached_property
    def cells(self) -> tuple[PlannedCell, ...]:
        """Every expected cell, control cells first, in one fixed order."""
        return tuple(self._cell(*names) for names in keys.expected_cells(self.controls))

    def _cell(self, agent: str, task: str, budget: str, repeat: int) -> PlannedCell:
        run_key = keys.run_key(self.controls, agent, task, budget, repeat)
        grade_key = keys.grade_key(self.controls, task, run_key)
        control = agent in RESERVED_AGENTS
        return PlannedCell(agent, task, budget, repeat, control, run_key, grade_key)

    @cached_property
    def runs(self) -> dict[str, PlannedCell]:
        """Run key -> the first cell that has it."""
        found: dict[str, PlannedCell] = {}
        for cell in self.cells:
            found.setdefault(cell.run_key, cell)
        return found

    @cached_property
    def grades(self) -> dict[str, PlannedCell]:
        """Grade key -> the first cell that has it."""
        found: dict[str, PlannedCell] = {}
        for cell in self.cells:
            found.setdefault(cell.grade_key, cell)
        return found

    @cached_property
    def task_by_digest(self) -> dict[str, Task]:
        """Task digest -> task."""
        return {task.digest: task for task in self.tasks.values()}

    @cached_property
    def task_by_grader(self) -> dict[str, Task]:
        """Grader digest -> a task that it grades."""
        return {task.grader.digest: task for task in self.tasks.values()}

    @cached_property
    def agent_by_frozen(self) -> dict[str, AgentFile]:
        """Frozen digest -> agent."""
        return {agent.frozen_digest: agent for agent in self.agents.values()}

    def expected_path(self, task: Task) -> Path:
        """Where the expected test ids of a task's grader stand."""
        return layout.expected(task.grader.digest, tree_digest(task.fixture), self.environment_id)

    @cached_property
    def task_by_expected(self) -> dict[str, Task]:
        """Path of the expected ids -> task."""
        return {self.expected_path(task).as_posix(): task for task in self.tasks.values()}

    @property
    def folder(self) -> Path:
        """The experiment's folder."""
        return layout.experiment(self.name, self.digest)

    @property
    def view_folder(self) -> Path:
        """The view's folder."""
        return layout.view(self.name, self.digest, self.view_digest)

    def lost_cells(self) -> list[PlannedCell]:
        """Return cells of which the store has lost a run or grade that something stands on.

        A grade stands on its run, a finished table on both. Snakemake does not notice.
        """
        finished = (self.folder / "cells.parquet").exists()

        def is_lost(cell: PlannedCell) -> bool:
            run, grade = (leaf.exists() for leaf in self.leaves(cell))
            return (not run and (grade or finished)) or (not grade and finished)

        return [cell for cell in self.cells if is_lost(cell)]

    @staticmethod
    def leaves(cell: PlannedCell) -> tuple[Path, Path]:
        """Return where a cell's run and grade stand."""
        return layout.run(cell.run_key) / "run.json", layout.grade(cell.grade_key) / "grade.json"


def network_policy(isolation: str) -> str:
    """Return what may be claimed of the network: below `userns` nothing holds it."""
    enforced = ("userns", "userns+cgroup", "container")
    return "blocked" if isolation in enforced else "not enforced"


def _task_controls(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = {
        "task_digest": task.digest,
        "grader_digest": task.grader.digest,
        "weight": task.weight,
        "split": task.split,
        "network": task.network,
        "grader_trust": task.grader.trust,
        "qualified": task.grader.solution is not None,
    }
    if task.budget_s is not None:
        found["budget_s"] = task.budget_s
    if task.grader.solution is not None:
        found["solution_sha256"] = tree_digest(task.grader.solution)
    return found


def _agent_controls(agents: Mapping[str, AgentFile]) -> dict[str, Any]:
    found = {
        name: {
            "sheet": dict(agent.sheet),
            "sheet_digest": agent.sheet_digest,
            "control": False,
            "unpinned": list(agent.unpinned),
        }
        for name, agent in agents.items()
    }
    for name in RESERVED_AGENTS:
        sheet = {"adapter": name}
        found[name] = {
            "sheet": sheet,
            "sheet_digest": digest(sheet),
            "control": True,
            "unpinned": [],
        }
    return found


def _budget_controls(budget: Budget) -> dict[str, Any]:
    return {
        field: value
        for field in CAP_FIELDS.values()
        if (value := getattr(budget, field)) is not None
    }


def load_plan(where: str = DEFAULT_CONFIG, root: Path = Path()) -> Plan:
    """Plan the experiment of a config file; read-only. `preflight` says whether it may start.

    Args:
        where: the config file, relative to the project's folder.
        root: the project's folder; everything in the config is relative to it.

    Raises:
        BadInput: config, agent file or pack is wrong.
    """
    data = read_yaml(root / where, where)
    if "source" in data:
        raise BadInput(
            f"{where}: source: the runs of this experiment are logs, so no cell of it runs here; "
            "cure: snakemake, frozenbench plan and frozenbench show read it"
        )
    config = parse_config(data, where)
    if config.experiment.name.casefold() in layout.TAKEN_NAMES:
        raise BadInput(
            f"{where}: experiment.name: {config.experiment.name!r} is a folder of the store; cure: "
            "another name"
        )
    agents = {name: read_agent(root, name) for name in config.agents}
    pack = read_pack(root / config.pack.path, config.pack.path)
    return Plan(where, config, pack, agents, root)
