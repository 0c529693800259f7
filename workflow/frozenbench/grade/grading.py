"""Run one grader on one tree in its own sandbox, and keep one verdict a (tree, grader, box)."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from frozenbench import layout
from frozenbench.canonical import (
    BadInput,
    File,
    canonical_json,
    digest,
    read_json,
    tree_digest,
    write_tree,
)
from frozenbench.frozen import tree_at
from frozenbench.grade.evidence import Evidence, Verdict, judge_command, judge_tests
from frozenbench.grade.tree import lay_over
from frozenbench.sandbox import Box, Ended, Limits, Mount, run, work_folder
from frozenbench.seal import sealed

INSIDE = Path(__file__).parent.parent / "inside"
HARNESS = "/opt/frozenbench"
MAX_LOG = 64 * 1024
PYTHONS = ("python", "python3")

Tree = Mapping[str, File]


@dataclass(frozen=True)
class FrozenGrader:
    """A grader as read back from its content-addressed place."""

    digest: str
    material: Mapping[str, Any]
    hidden: Tree
    solution: Tree | None
    tests: tuple[str, ...]

    @property
    def trust(self) -> str:
        """The trust level."""
        return str(self.material["grader_trust"])


@dataclass(frozen=True)
class Graded:
    """A verdict, how long it took and what the grader printed."""

    verdict: Verdict
    seconds: float
    log: str


def read_grader(folder: Path) -> FrozenGrader:
    """Read a frozen grader and check it against its own path.

    Raises:
        BadInput: it was changed after it was frozen.
    """
    document = read_json(folder / "grader.json")
    material = document["material"]
    hidden = tree_at(folder / "hidden")
    solution = None if material["solution"] is None else tree_at(folder / "solution")
    found = {
        **material,
        "hidden": tree_digest(hidden),
        "solution": None if solution is None else tree_digest(solution),
    }
    if digest(found) != folder.name:
        raise BadInput(
            f"{folder}: was changed after it was frozen; cure: remove the folder, it is frozen again"
        )
    return FrozenGrader(folder.name, material, hidden, solution, tuple(document["tests"]))


def grade_tree(
    grader: FrozenGrader,
    artifact: Tree,
    fixture: Tree,
    environment: Path,
    isolation: str,
    expected: Sequence[str] | None,
) -> Graded:
    """Lay the hidden files over an artifact and run the grader on it; stores nothing."""
    tree = graded_tree(grader, artifact, fixture)
    nonce = secrets.token_hex(16)
    with work_folder() as work:
        write_tree(tree, work)
        box = Box(
            level=isolation,
            work=work,
            mounts=(Mount(INSIDE, HARNESS),),
            environment=environment,
            limits=Limits(seconds=float(grader.material["grade_timeout_s"])),
            variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        ended = run(box, _argv(box, grader), stdin=nonce.encode() + b"\n", report=True)
    evidence = Evidence(ended.report, nonce, ended.timed_out, ended.exit_status)
    by_status = grader.trust == "exit-status"
    verdict = judge_command(evidence) if by_status else judge_tests(evidence, expected)
    return Graded(verdict, ended.seconds, _log(ended, verdict))


def _argv(box: Box, grader: FrozenGrader) -> list[str]:
    argv = list(grader.material["argv"])
    spec: dict[str, Any]
    if grader.trust == "exit-status":
        if argv[0] == "pytest":
            argv[:1] = [box.python, "-m", "pytest"]
        elif argv[0] in PYTHONS:
            argv[0] = box.python
        driver, spec = "grade_command.py", {"argv": argv}
    else:
        arguments = argv[1:] if argv[0] == "pytest" else argv[3:]
        folders = sorted({PurePosixPath(test).parent.as_posix() for test in grader.tests})
        driver = "grade_pytest.py"
        spec = {
            "arguments": arguments,
            "folders": folders,
            "packages": bare_packages(grader.hidden, folders),
        }
    return [box.python, "-I", box.seen(f"{HARNESS}/{driver}"), json.dumps(spec)]


def bare_packages(hidden: Tree, folders: Sequence[str]) -> dict[str, str]:
    """Return name -> folder of hidden packages without an __init__.py beside the tests.

    Python takes them only where no package of that name has one, so that the agent's would win.
    """
    found: dict[str, str] = {}
    for folder in folders:
        for path in map(PurePosixPath, hidden):
            if folder != "." and path.is_relative_to(folder) and path.suffix == ".py":
                inside = path.relative_to(folder).parts
                package = f"{folder}/{inside[0]}"
                if len(inside) > 1 and f"{package}/__init__.py" not in hidden:
                    found[inside[0]] = package
    return found


def _log(ended: Ended, verdict: Verdict) -> str:
    text = ended.output[-MAX_LOG:].decode("utf-8", "replace")
    return f"{text}\n{verdict.note}\n" if verdict.note else text


def graded_tree(grader: FrozenGrader, artifact: Tree, fixture: Tree) -> dict[str, File]:
    """Return the tree that the grader sees."""
    folders = grader.material["hidden_folders"]
    return lay_over(artifact, fixture, grader.hidden, folders, grader.solution)


def verdict_key(
    tree: Tree,
    grader_digest: str,
    expected: Sequence[str] | None,
    environment_id: str,
    isolation: str,
) -> str:
    """Return the key of a stored verdict on a graded tree.

    The tree is the one that the grader sees: two artifacts that differ in nothing but files which
    the hidden ones replace share a verdict, and equal artifacts over other fixtures need not. The
    expected ids count too: they are found on the fixture with its solution.
    """
    return digest(
        {
            "tree": tree_digest(tree),
            "grader_digest": grader_digest,
            "expected": None if expected is None else list(expected),
            "environment": environment_id,
            "isolation": isolation,
        }
    )


def stored(key: str) -> Graded | None:
    """Return a stored verdict, or None."""
    path = layout.verdict(key)
    if not path.exists():
        return None
    document = read_json(path)
    fields = {**document["verdict"], "ids": tuple(document["verdict"]["ids"])}
    return Graded(Verdict(**fields), document["seconds"], document["log"])


def store(key: str, graded: Graded) -> Graded:
    """Keep a verdict; the first one written under a key stays. Broken graders are not kept."""
    if graded.verdict.broken:
        return graded
    path = layout.verdict(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "key": key,
        "verdict": asdict(graded.verdict),
        "seconds": graded.seconds,
        "log": graded.log,
    }
    descriptor, name = tempfile.mkstemp(prefix=f".{key}.", dir=path.parent)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(canonical_json(sealed(document)) + b"\n")
    Path(name).chmod(0o644)
    try:
        os.link(name, path)
    except FileExistsError:
        return stored(key) or graded
    finally:
        Path(name).unlink()
    return graded
