"""A project folder in which real Snakemake runs as a subprocess, and what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
import yaml
from small_experiment import NAME

#: A job's line: its rule, and whom or what it is for.
JOB = re.compile(r"^Job \d+: (\w+): (.*)$", re.MULTILINE)
#: A job that Snakemake describes in full because its rule has no message.
PLAIN = re.compile(r"^(?:local)?rule (\w+):$", re.MULTILINE)

#: What closes every run that has something to do.
CLOSING = {"publish": 1, "check_score": 1}
#: What a new view of a table needs.
VIEW = {"freeze_view": 1, "contrast": 1, "draw_figure": 1, "write_page": 1, "write_tables": 1}
VIEW |= CLOSING
#: What a new experiment needs besides its cells.
EXPERIMENT = {"freeze_controls": 1, "collect_cells": 1} | VIEW


@dataclass(frozen=True)
class Ran:
    """One command that ended."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything that it wrote."""
        return self.out + self.err

    @property
    def rules(self) -> dict[str, int]:
        """Number of jobs by rule, but for `all`."""
        counts = Counter(rule for rule, _ in JOB.findall(self.said))
        counts.update(rule for rule in PLAIN.findall(self.said) if rule != "all")
        return dict(counts)

    @property
    def others(self) -> dict[str, int]:
        """Number of jobs by rule, without those of cells."""
        return {k: v for k, v in self.rules.items() if k not in ("run_cell", "grade_cell")}

    def labels(self, rule: str) -> list[str]:
        """Labels of all jobs of a rule, sorted."""
        return sorted(label for name, label in JOB.findall(self.said) if name == rule)

    @property
    def runs(self) -> list[str]:
        """Labels of the cells that run."""
        return self.labels("run_cell")

    @property
    def grades(self) -> list[str]:
        """Labels of the cells that are graded."""
        return self.labels("grade_cell")


@dataclass(frozen=True)
class Project:
    """A project folder."""

    folder: Path

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def command(self, *words: str, cores: int = 2) -> list[str]:
        """Return the command line of a Snakemake run."""
        return [sys.executable, "-m", "snakemake", "--cores", str(cores), *words]

    def snakemake(self, *words: str, cores: int = 2, env: Mapping[str, str] | None = None) -> Ran:
        """Run the workflow, or whatever else `words` ask of Snakemake."""
        return self._ran(self.command(*words, cores=cores), env)

    def due(self, *words: str, cores: int = 2, env: Mapping[str, str] | None = None) -> Ran:
        """Say what would run; fail if Snakemake cannot say it."""
        ran = self.snakemake("--dry-run", *words, cores=cores, env=env)
        assert ran.status == 0, ran.said
        return ran

    def succeeds(self, *words: str, cores: int = 2, env: Mapping[str, str] | None = None) -> Ran:
        """Run the workflow to its score."""
        ran = self.snakemake(*words, cores=cores, env=env)
        assert ran.status == 0, ran.said
        return ran

    def frozenbench(self, *words: str) -> Ran:
        """Run a subcommand."""
        return self._ran([sys.executable, "-m", "frozenbench", *words], None)

    def _ran(self, command: list[str], env: Mapping[str, str] | None) -> Ran:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=300,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def copy(self, folder: Path) -> Project:
        """Copy the whole project, hidden folders, times and links included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder)

    def change_config(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Read the config, let `change` change it in place, and write it back."""
        path = self / "config/config.yaml"
        data = yaml.safe_load(path.read_text())
        change(data)
        path.write_text(yaml.safe_dump(data, sort_keys=False))

    def experiments(self) -> list[Path]:
        """Return the folders of all experiments, oldest first."""
        found = (self / "results/experiments").iterdir()
        return sorted(found, key=lambda path: (path / "controls.json").stat().st_mtime_ns)

    def cells(self, name: str = NAME) -> bytes:
        """Return the bytes of the published table."""
        return (self / f"results/{name}/cells.parquet").read_bytes()

    def rows(self, table: str = "cells", name: str = NAME) -> list[dict[str, Any]]:
        """Return the rows of a published table."""
        path = self / f"results/{name}/{table}.parquet"
        return pyarrow.parquet.read_table(path).to_pylist()  # type: ignore[no-any-return]

    def outcomes(self, name: str = NAME) -> dict[tuple[str, str, str], tuple[str, str]]:
        """Return (agent, task, budget) -> (outcome, reason) of repeat 0."""
        return {
            (row["agent"], row["task"], row["budget"]): (row["outcome"], row["reason"])
            for row in self.rows(name=name)
            if row["repeat"] == 0
        }

    def published(self, name: str = NAME) -> dict[str, bytes]:
        """Return what a reader sees at results/<name>/: path -> bytes, without markers."""
        folder = self / f"results/{name}"
        return {
            path: data
            for path, data in tree(folder).items()
            if not any(part.startswith(".") for part in Path(path).parts)
        }


def environment() -> dict[str, str]:
    """Return an environment in which nothing of the caller's steers Snakemake or frozenbench."""
    steering = ("SNAKEMAKE", "EXPECTED_PACK", "FROZENBENCH")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(steering)}
    return kept | {"FROZENBENCH_LOG": "snakemake"}  # a line a job, to be counted


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files(folder)}


def files(folder: Path) -> Iterator[Path]:
    """Yield every regular file below a folder, following no link."""
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(root, name)
            if not path.is_symlink():
                yield path


def cells_of(
    agents: Any = ("noop", "reference", "steady", "stubborn"),
    tasks: Any = ("double", "greet"),
    budgets: Any = ("calls-1", "calls-3"),
    repeats: Any = (0,),
) -> list[str]:
    """Return the labels of cells, sorted as Ran.runs and Ran.grades are."""
    return sorted(
        f"{agent} {task} {budget} repeat {repeat}"
        for agent in agents
        for task in tasks
        for budget in budgets
        for repeat in repeats
    )
