"""The attacks once more as an ordinary user, where the tests are run as root."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from attack_task import ENVIRONMENT_VARIABLE
from frozenbench.sandbox.users import unprivileged
from ordinary_user import run_as

#: They need packages that an ordinary user's copy does not have.
LEFT_OUT = ("test_attack_cells.py", "test_attack_report.py", "report.py", Path(__file__).name)


def run_again(words: list[str], environment: Path) -> str:
    user = unprivileged()
    if user is None:
        pytest.skip("not root: the other tests have just run as an ordinary user")
    # A short path: Unix sockets lie below it.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        copy = folder / "environments" / environment.name
        shutil.copytree(environment, copy, symlinks=True)
        return run_as(
            user,
            folder,
            Path(__file__).parent,
            words,
            without=LEFT_OUT,
            variables={ENVIRONMENT_VARIABLE: str(copy)},
        )


@pytest.mark.slow
def test_one_of_each_kind(environment: Path) -> None:
    run_again(["-m", "slow"], environment)


@pytest.mark.attacks
def test_every_one(environment: Path) -> None:
    run_again(["-m", "attacks"], environment)
