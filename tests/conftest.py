from __future__ import annotations

from pathlib import Path

import pytest
from cell_project import STARTER_LOCK, CellProject
from frozenbench.build_environment import build_environment
from frozenbench.canonical import sha256_bytes
from frozenbench.freeze_names import freeze_names
from frozenbench.keys import environment_id
from frozenbench.sandbox import measure
from hypothesis import settings

# How long one example takes says something of the machine's load and nothing of the code. The same
# examples on every run: a change is never blamed for a fault that stood before it. `make explore`
# looks for new ones.
settings.register_profile("frozenbench", deadline=None, derandomize=True)
settings.register_profile(
    "explore", deadline=None, max_examples=500, derandomize=False, print_blob=True
)
settings.load_profile("frozenbench")


@pytest.fixture(scope="session")
def pack_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment of packs/starter (pytest and what it needs), built once a session."""
    name = environment_id(sha256_bytes(STARTER_LOCK.read_bytes()))
    out = tmp_path_factory.mktemp("environments") / name
    build_environment(STARTER_LOCK, out)
    return out


@pytest.fixture(scope="session")
def pack_names(pack_environment: Path) -> Path:
    """The modules and names of that environment."""
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, these tests need userns")
    out = pack_environment.parent / "names.json"
    freeze_names(pack_environment, "userns", out)
    return out


@pytest.fixture
def cells(
    tmp_path: Path, pack_environment: Path, pack_names: Path, monkeypatch: pytest.MonkeyPatch
) -> CellProject:
    """An empty project in the current folder, with one task that any test may replace."""
    monkeypatch.chdir(tmp_path)
    project = CellProject(tmp_path, pack_environment, pack_names)
    project.task()
    return project
