"""Inputs and arguments of the workflow's jobs, for the rules: typed here, so that rules stay rules."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from frozenbench import layout
from frozenbench.controls import Budget
from frozenbench.gateway.ledger import Ledger, Spending, beside
from frozenbench.packs import Task
from frozenbench.plan import Plan, PlannedCell
from frozenbench.view_jobs import ViewJobs


@dataclass(frozen=True)
class Jobs(ViewJobs):
    """The jobs of one plan whose cells run here."""

    plan: Plan

    @property
    def environment(self) -> Path:
        """The pack environment's mark that it is whole."""
        return layout.environment(self.plan.environment_id) / "environment.json"

    def needs(self, *leaves: Path, **inputs: Path) -> dict[str, str]:
        """Return a leaf's inputs while it (or one of several) is not there, and none once it is.

        A leaf stands at a path that is the digest of all that it depends on, so one that is there
        is right. Otherwise a new experiment's controls.json, or an endpoint at another address,
        would make Snakemake run every cell again (`ancient` helps only where the input exists).
        """
        if all(leaf.exists() for leaf in leaves):
            return {}
        return {name: path.as_posix() for name, path in inputs.items()}

    def expected_task(self, grader: str, short: str) -> Task:
        """Return the task whose expected ids stand at frozen/expected/<grader>/<short>.json."""
        path = layout.RESULTS / "frozen" / "expected" / grader / f"{short}.json"
        return self.plan.task_by_expected[path.as_posix()]

    def expected_inputs(self, task: Task) -> dict[str, str]:
        """Inputs of freeze_expected."""
        return self.needs(
            self.plan.expected_path(task),
            grader=layout.frozen_grader(task.grader.digest) / "grader.json",
            task=layout.frozen_task(task.digest) / "task.json",
            environment=self.environment,
        )

    def run_inputs(self, run_key: str) -> dict[str, str]:
        """Inputs of run_cell."""
        cell = self.plan.runs[run_key]
        task = self.plan.tasks[cell.task]
        inputs = {
            "controls": self.controls,
            "task": layout.frozen_task(task.digest) / "task.json",
            "environment": self.environment,
            "record": layout.frozen_record(self.plan.record_id),
        }
        if not cell.control:
            inputs["agent"] = self._agent_files(cell) / "agent.json"
        if cell.agent == "reference":
            inputs["solution"] = layout.frozen_grader(task.grader.digest) / "grader.json"
        return self.needs(layout.run(run_key) / "run.json", **inputs)

    def run_arguments(self, run_key: str) -> str:
        """Return the names of a cell, and the frozen files that only some agents have."""
        cell = self.plan.runs[run_key]
        task = self.plan.tasks[cell.task]
        words = [*self._cell_words(cell), "--task_files", layout.frozen_task(task.digest)]
        if not cell.control:
            words += ["--agent_files", self._agent_files(cell)]
            words += ["--startup_timeout_s", self.plan.config.startup_timeout_s]
            words += self._spend_words(cell)
        if cell.agent == "reference":
            words += ["--solution", layout.frozen_grader(task.grader.digest) / "solution"]
        return shlex.join(map(str, words))

    @property
    def spending(self) -> Spending:
        """What the experiment has paid and may pay."""
        most, currency = self.plan.config.spend_limit()
        return Spending(Ledger(beside(self.controls)), most, currency)

    def _spend_words(self, cell: PlannedCell) -> list[object]:
        """Return the option that limits what the experiment spends, where the agent spends."""
        most, _ = self.plan.config.spend_limit()
        priced = "prices" in self.plan.agents[cell.agent].connection
        return ["--max_spend", most] if most is not None and priced else []

    @property
    def cells(self) -> int:
        """Number of cells of the experiment, control cells among them."""
        return len(self.plan.grades)

    def graded(self) -> int:
        """Return how many of them are graded already."""
        return sum((layout.grade(key) / "grade.json").exists() for key in self.plan.grades)

    def priority(self, cell: PlannedCell) -> int:
        """Return the rank of a cell's budget, largest last: such cells go first.

        What they ask a model and what their steps are graded as is what smaller budgets need too.
        """
        return self._ranks[cell.budget]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        def size(budget: Budget) -> tuple[float, ...]:
            caps = (budget.max_tool_calls, budget.max_edit_rounds, budget.max_tokens)
            return (*(math.inf if cap is None else cap for cap in caps), budget.max_seconds)

        ordered = sorted(self.plan.config.budgets, key=size)
        return {budget.name: rank for rank, budget in enumerate(ordered)}

    def grade_inputs(self, grade_key: str) -> dict[str, str]:
        """Inputs of grade_cell."""
        cell = self.plan.grades[grade_key]
        task = self.plan.tasks[cell.task]
        return self.needs(
            *self.plan.leaves(cell),  # a run that is made again is graded again
            controls=self.controls,
            run=layout.run(cell.run_key) / "run.json",
            task=layout.frozen_task(task.digest) / "task.json",
            grader=layout.frozen_grader(task.grader.digest) / "grader.json",
            expected=self.plan.expected_path(task),
            names=layout.frozen_names(self.plan.environment_id),
            environment=self.environment,
        )

    def grade_arguments(self, grade_key: str) -> str:
        """Return the names of a cell, its run and its grader's frozen files."""
        cell = self.plan.grades[grade_key]
        task = self.plan.tasks[cell.task]
        words = [
            *self._cell_words(cell),
            *("--run", layout.run(cell.run_key)),
            *("--task_files", layout.frozen_task(task.digest)),
            *("--grader_files", layout.frozen_grader(task.grader.digest)),
            *("--expected", self.plan.expected_path(task)),
            *("--names", layout.frozen_names(self.plan.environment_id)),
        ]
        return shlex.join(map(str, words))

    def leaves(self) -> dict[str, list[str]]:
        """Return every run and grade that the tables need."""
        return {
            "runs": [(layout.run(key) / "run.json").as_posix() for key in self.plan.runs],
            "grades": [(layout.grade(key) / "grade.json").as_posix() for key in self.plan.grades],
        }

    def lock_argument(self) -> str:
        """Return the option that names the pack's lock, if it has one."""
        if self.plan.pack.lock is None:
            return ""
        return shlex.join(["--lock", f"{self.plan.config.pack.path}/requirements.txt"])

    def record_argument(self) -> str:
        """Return the option that names the committed record, if there is one."""
        record = self.plan.config.responses.record
        return "" if record is None else shlex.join(["--record", record])

    def _agent_files(self, cell: PlannedCell) -> Path:
        return layout.frozen_agent(self.plan.agents[cell.agent].frozen_digest)

    def _cell_words(self, cell: PlannedCell) -> list[object]:
        names = {"agent": cell.agent, "task": cell.task, "budget": cell.budget}
        words: list[object] = []
        for name, value in names.items():
            words += [f"--{name}", value]
        return [*words, "--repeat", cell.repeat]
