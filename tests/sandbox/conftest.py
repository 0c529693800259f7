from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from frozenbench.build_environment import build_environment
from frozenbench.sandbox import Box, Limits, measure, work_folder

MakeBox = Callable[..., Box]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty pack environment; as root below a folder that the boxed user cannot enter."""
    out = tmp_path_factory.mktemp("private") / "environment"
    build_environment(None, out)
    return out


@pytest.fixture
def work() -> Iterator[Path]:
    with work_folder() as folder:
        yield folder


@pytest.fixture
def make_box(work: Path, environment: Path) -> MakeBox:
    def make(level: str = "userns", seconds: float | None = 20, **more: Any) -> Box:
        limits = {"seconds": seconds, **more.pop("limits", {})}
        return Box(level, work, environment=environment, limits=Limits(**limits), **more)

    return make


@pytest.fixture
def walled(make_box: MakeBox) -> MakeBox:
    """Boxes with walls, where the machine can make them."""
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, these tests need userns")
    return make_box
