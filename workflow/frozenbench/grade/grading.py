"""Run one grader on one tree in its own sandbox, and keep one verdict a (tree, grader, box)."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Self

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
from frozenbench.grade.boxes import HARNESS, grading_box
from frozenbench.grade.evidence import Evidence, Verdict, judge_command, judge_tests
from frozenbench.grade.tree import lay_over
from frozenbench.named_tests import hidden_named
from frozenbench.sandbox import Box, run, work_folder
from frozenbench.seal import read_sealed, sealed

MAX_LOG = 64 * 1024
PYTHONS = ("python", "python3")

if TYPE_CHECKING:
    from frozenbench.grade.split import SplitSession

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
    material = read_json(folder / "grader.json")["material"]
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
    return FrozenGrader(
        folder.name, material, hidden, solution, hidden_named(material["argv"], hidden)
    )


class Grading:
    """One grader over one environment in one kind of box; grades any number of artifacts.

    A context manager: under `split` it keeps the trusted process, which sees no candidate's code,
    from one artifact to the next. Everything else gets a fresh box for each.
    """

    def __init__(self, grader: FrozenGrader, environment: Path, isolation: str) -> None:
        self._grader = grader
        self._environment = environment
        self._isolation = isolation
        self._split: SplitSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._split is not None:
            self._split.close()

    def grade(self, artifact: Tree, fixture: Tree, expected: Sequence[str] | None) -> Graded:
        """Grade one artifact; stores nothing. `expected` None: judge without expectation."""
        if self._grader.trust == "split":
            return self._grade_split(artifact, expected)
        nonce = secrets.token_hex(16)
        with work_folder() as work:
            write_tree(graded_tree(self._grader, artifact, fixture), work)
            box = grading_box(work, self._environment, self._isolation, self._seconds)
            argv = _argv(box, self._grader)
            ended = run(box, argv, stdin=nonce.encode() + b"\n", report=True)
        evidence = Evidence(ended.report, nonce, ended.timed_out, ended.exit_status)
        by_status = self._grader.trust == "exit-status"
        verdict = judge_command(evidence) if by_status else judge_tests(evidence, expected)
        return Graded(verdict, ended.seconds, _log(ended.output, verdict))

    def _grade_split(self, artifact: Tree, expected: Sequence[str] | None) -> Graded:
        if self._split is None:
            from frozenbench.grade.split import SplitSession  # most grades find a stored verdict

            spec = pytest_spec(self._grader)
            self._split = SplitSession(
                self._grader.hidden, spec, self._environment, self._isolation, self._seconds
            )
        found = self._split.grade(artifact)
        verdict = judge_tests(found.evidence, expected)
        if found.fault is not None:
            verdict = Verdict(False, broken=True, note=found.fault)
        return Graded(verdict, found.seconds, _log(found.output, verdict))

    @property
    def _seconds(self) -> float:
        return float(self._grader.material["grade_timeout_s"])


def grade_tree(
    grader: FrozenGrader,
    artifact: Tree,
    fixture: Tree,
    environment: Path,
    isolation: str,
    expected: Sequence[str] | None,
) -> Graded:
    """Grade one artifact; stores nothing."""
    with Grading(grader, environment, isolation) as grading:
        return grading.grade(artifact, fixture, expected)


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
        driver, spec = "grade_pytest.py", pytest_spec(grader)
    return [box.python, "-I", box.seen(f"{HARNESS}/{driver}"), json.dumps(spec)]


def pytest_spec(grader: FrozenGrader) -> dict[str, Any]:
    """Return what the harness is told: pytest's arguments and where the hidden files lie."""
    argv = list(grader.material["argv"])
    folders = sorted({PurePosixPath(test).parent.as_posix() for test in grader.tests})
    return {
        "arguments": argv[1:] if argv[0] == "pytest" else argv[3:],
        "folders": folders,
        "packages": bare_packages(grader.hidden, folders),
        "hidden": sorted(path for path in grader.hidden if path.endswith(".py")),
    }


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


def _log(output: bytes, verdict: Verdict) -> str:
    text = output[-MAX_LOG:].decode("utf-8", "replace")
    return f"{text}\n{verdict.note}\n" if verdict.note else text


def graded_tree(grader: FrozenGrader, artifact: Tree, fixture: Tree) -> dict[str, File]:
    """Return the tree in which the candidate's code runs: under `split`, nothing hidden is in it."""
    if grader.trust == "split":
        return dict(artifact)
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
    """Return a stored verdict, or None.

    Raises:
        BadInput: it is not as it was written.
    """
    path = layout.verdict(key)
    if not path.exists():
        return None
    cure = "remove the file, it is graded again"
    document = read_sealed(path, cure)
    if document["key"] != key:
        raise BadInput(f"{path}: is the verdict of another key; cure: {cure}")
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
