"""Whole runs of real Snakemake on a small experiment, each test in a project folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozenbench.sandbox import measure
from project import Project
from small_experiment import write_study, write_workflow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here starts Snakemake."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project with its pack environment built and nothing else: what is slow and shared."""
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, these tests need userns")
    project = Project(tmp_path_factory.mktemp("prepared") / "project")
    write_workflow(project.folder)
    write_study(project.folder)
    project.succeeds("--until", "freeze_names")
    return project


@pytest.fixture(scope="session")
def base(prepared: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project, run once. Not to be changed: take `project`."""
    project = prepared.copy(tmp_path_factory.mktemp("base") / "project")
    project.succeeds()
    return project


@pytest.fixture
def project(base: Project, tmp_path: Path) -> Project:
    """A copy of the project that was run once."""
    return base.copy(tmp_path / "project")


@pytest.fixture
def fresh(prepared: Project, tmp_path: Path) -> Project:
    """A copy of the project in which no cell was run yet."""
    return prepared.copy(tmp_path / "project")
