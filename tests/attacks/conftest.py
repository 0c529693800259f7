from __future__ import annotations

import os
from pathlib import Path

import pytest
from attack_task import ENVIRONMENT_VARIABLE
from frozenbench.sandbox import measure

#: They are what is graded: files named conftest.py and the like are no tests of ours.
collect_ignore = ["artifacts"]


@pytest.fixture(scope="session")
def environment(request: pytest.FixtureRequest) -> Path:
    """The pack environment that graders run in."""
    if measure().level not in ("userns", "userns+cgroup"):
        pytest.skip(f"this machine gives {measure().level}, these tests need userns")
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    found: Path = Path(given) if given else request.getfixturevalue("pack_environment")
    return found


@pytest.fixture
def once_as_ordinary_user() -> None:
    """Leave a test of the short set to the session of an ordinary user, where there is one."""
    if os.geteuid() == 0:
        pytest.skip("root: test_attacks_as_ordinary_user.py runs it as an ordinary user")
