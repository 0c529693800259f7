"""One list of packages: conda's environment, the locks and pyproject.toml must not drift apart."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(name: str) -> dict[str, str]:
    """Return package -> version of one pip lock."""
    text = (ROOT / "locks" / name).read_text()
    return {
        canonicalize_name(package): version
        for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.M)
    }


def test_conda_installs_from_the_same_lock_and_no_second_list() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == ["--requirement locks/run.txt"]
    plain = [item for item in environment["dependencies"] if isinstance(item, str)]
    assert {re.split(r"[ <>=]", item)[0] for item in plain} == {"python", "pip", "bubblewrap"}


def test_condas_python_is_one_that_the_project_takes() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (python,) = [i for i in environment["dependencies"] if str(i).startswith("python ")]
    wanted = SpecifierSet(python.removeprefix("python "))
    assert all(
        SpecifierSet(PROJECT["project"]["requires-python"]).contains(version)
        for version in ("3.11", "3.12", "3.13", "3.14")
        if wanted.contains(version)
    )


@pytest.mark.parametrize("lock", ["run.txt", "dev.txt", "model.txt"])
def test_every_locked_package_has_hashes_and_comes_from_the_index(lock: str) -> None:
    text = (ROOT / "locks" / lock).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines
    assert all("--hash=sha256:" in line and "==" in line for line in lines)
    assert "://" not in text


def test_the_locks_hold_what_the_project_asks_for() -> None:
    runtime = locked("run.txt")
    for text in PROJECT["project"]["dependencies"]:
        requirement = Requirement(text)
        version = runtime[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement.name} {version}"
    model = locked("model.txt")
    for text in PROJECT["project"]["optional-dependencies"]["model"]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(model[canonicalize_name(requirement.name)])
    development = locked("dev.txt")
    for text in PROJECT["dependency-groups"]["dev"]:
        assert canonicalize_name(Requirement(text).name) in development


def test_the_locks_agree_with_each_other() -> None:
    runtime = locked("run.txt")
    for other in ("dev.txt", "model.txt"):
        for package, version in locked(other).items():
            assert runtime.get(package, version) == version, package


def test_every_dependency_says_why_it_is_there() -> None:
    lines = (ROOT / "pyproject.toml").read_text().split("dependencies = [", 1)[1].split("]", 1)[0]
    for line in filter(None, map(str.strip, lines.splitlines())):
        assert "#" in line, line
