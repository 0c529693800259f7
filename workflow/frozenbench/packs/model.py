"""What a pack is once it is read: frozen tasks and graders with their digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from frozenbench.canonical import File, digest, tree_digest
from frozenbench.controls import COUNT, GRADE_SEMANTICS, ID_PATTERN, SECONDS, STRING, control

PATHS = {"type": "array", "items": STRING}
HIDDEN = {
    "oneOf": [
        {"type": "array", "items": STRING, "minItems": 1},
        {"type": "object", "additionalProperties": STRING, "minProperties": 1},
    ]
}


@dataclass(frozen=True)
class PackInfo:
    """pack.json: what the pack says of itself."""

    name: str = control("the pack's name", {"type": "string", "pattern": ID_PATTERN})
    status: str = control("proposal or published", {"enum": ["proposal", "published"]})
    licence: str = control("licence of prompts, fixtures and tests", STRING)
    source: str = control("where the tasks come from", STRING)
    python: str = control("version range of Python, such as >=3.11", STRING)


@dataclass(frozen=True)
class PackLine:
    """One line of pack.jsonl, in either dialect."""

    id: str | None = control("the task's id", {"type": "string"}, default=None)
    task_id: str | None = control("the same, in the second dialect", STRING, default=None)
    prompt_file: str | None = control("file with the prompt", STRING, default=None)
    prompt: str | None = control("the prompt itself", {"type": "string"}, default=None)
    grade: tuple[str, ...] | None = control(
        "the only command that may grade, as a list of words",
        {**PATHS, "minItems": 1},
        default=None,
    )
    test_cmd: str | None = control(
        "the same as one string, split as a shell would", STRING, default=None
    )
    fixture_dir: str | None = control("the tree that the agent starts from", STRING, default=None)
    hidden: Any = control(
        "files laid over the artifact when grading: {path in the tree: path in the pack} or paths",
        HIDDEN,
        default=None,
    )
    weight: int = control("the task's review cost", COUNT, default=1)
    budget_s: float | None = control(
        "the task's own wall-clock cap", SECONDS, unit="s", default=None
    )
    grade_timeout_s: float = control("the grader's clock", SECONDS, unit="s", default=60)
    must_not_contain: tuple[str, ...] = control("banned strings", PATHS, default=())
    must_not_use: tuple[str, ...] = control(
        "banned dotted Python names",
        {"type": "array", "items": {"type": "string", "pattern": r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"}},
        default=(),
    )
    artifact: tuple[str, ...] = control("paths that must exist at the end", PATHS, default=())
    network: str = control("network of the task", {"enum": ["blocked", "open"]}, default="blocked")
    grader_trust: str = control(
        "how far the candidate is kept from the grader",
        {"enum": ["split", "in-process", "exit-status"]},
        default="in-process",
    )
    split: str = control("slice", {"enum": ["public", "held_out"]}, default="public")


@dataclass(frozen=True)
class Grader:
    """All that decides about one task's artifact.

    Attributes:
        argv: the command; `python`, `python3`, `pytest` as its first word are the environment's.
        hidden: path in the tree -> file, laid over the artifact.
        folders: tree paths of hidden folders, which replace what the artifact has there.
        tests: the hidden paths that the command names.
        timeout_s: the grader's clock, in seconds.
        solution: the reference solution, or None.
        lock_sha256: identity of the pack's requirements.txt, or None.
    """

    argv: tuple[str, ...]
    hidden: Mapping[str, File]
    folders: tuple[str, ...]
    tests: tuple[str, ...]
    timeout_s: float
    must_not_contain: tuple[str, ...]
    must_not_use: tuple[str, ...]
    trust: str
    solution: Mapping[str, File] | None
    lock_sha256: str | None

    @property
    def material(self) -> dict[str, Any]:
        """What the grader digest is made of."""
        return {
            "argv": list(self.argv),
            "hidden": tree_digest(self.hidden),
            "hidden_folders": sorted(self.folders),
            "grade_timeout_s": self.timeout_s,
            "must_not_contain": list(self.must_not_contain),
            "must_not_use": list(self.must_not_use),
            "grader_trust": self.trust,
            "solution": None if self.solution is None else tree_digest(self.solution),
            "lock_sha256": self.lock_sha256,
            "grade_semantics": GRADE_SEMANTICS,
        }

    @cached_property
    def digest(self) -> str:
        """The grader digest."""
        return digest(self.material)


@dataclass(frozen=True)
class Task:
    """One task: what the agent can see or feel, and its grader."""

    id: str
    prompt: str
    fixture: Mapping[str, File]
    budget_s: float | None
    artifact: tuple[str, ...]
    network: str
    weight: int
    split: str
    grader: Grader
    known_wrong: Mapping[str, File] | None = None

    @property
    def material(self) -> dict[str, Any]:
        """What the task digest is made of: nothing of the grader, weight or split."""
        return {
            "id": self.id,
            "prompt": self.prompt,
            "fixture": tree_digest(self.fixture),
            "budget_s": self.budget_s,
            "artifact": list(self.artifact),
            "network": self.network,
        }

    @cached_property
    def digest(self) -> str:
        """The task digest."""
        return digest(self.material)


@dataclass(frozen=True)
class Pack:
    """A whole pack as read from its folder."""

    info: PackInfo
    tasks: tuple[Task, ...]
    file_sha256: str
    lock: bytes | None
    lock_sha256: str | None

    @cached_property
    def digest(self) -> str:
        """The pack digest; file order, BOM and line ends do not change it."""
        return digest(
            sorted(
                [task.id, task.digest, task.grader.digest, task.weight, task.split]
                for task in self.tasks
            )
        )
