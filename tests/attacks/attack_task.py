"""The task that every attack is tried on, its grader at each trust level, and one grade of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from frozenbench.canonical import File
from frozenbench.grade.grading import FrozenGrader, Graded, Grading
from frozenbench.sandbox import Box, Limits, run, take_tree, work_folder

Tree = Mapping[str, File]

SPLIT, IN_PROCESS, EXIT_STATUS = "split", "in-process", "exit-status"
LEVELS = (SPLIT, IN_PROCESS, EXIT_STATUS)

#: Names a built pack environment with pytest, where the tests are not to build their own.
ENVIRONMENT_VARIABLE = "ATTACKS_ENVIRONMENT"

TEST = "tests/test_solution.py"

#: What an agent starts from: nothing in it is right.
WRONG = '''
def total(numbers):
    """Return the sum of whole numbers."""
    return 0


def ordered(words):
    """Return the words sorted, each once."""
    return []


def tally(words):
    """Return how often each word stands there."""
    return {}


def shout(text):
    """Return the text in capitals with an exclamation mark."""
    return text


def positive(text):
    """Return the whole number that the text holds; ValueError below 1."""
    return 0


def count(items, item):
    """Return how often the item stands among the items, as a whole number."""
    return -1
'''

RIGHT = """
def total(numbers):
    return sum(numbers)


def ordered(words):
    return sorted(set(words))


def tally(words):
    return {word: words.count(word) for word in words}


def shout(text):
    return text.upper() + "!"


def positive(text):
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def count(items, item):
    return items.count(item)
"""

IMPORTS = {
    SPLIT: 'from frozenbench_candidate import load\n\nsolution = load("solution.py")',
    IN_PROCESS: "import solution",
    EXIT_STATUS: "import solution",
}

TESTS = """
import pytest
from support.numbers import MANY, THEIR_SUM

{imports}


def test_total():
    assert solution.total([2, 3]) == 5


def test_total_of_many():
    assert solution.total(MANY) == THEIR_SUM


def test_ordered():
    assert solution.ordered(["pear", "fig", "pear"]) == ["fig", "pear"]


def test_tally():
    assert solution.tally(["a", "b", "a"]) == {{"a": 2, "b": 1}}


def test_shout():
    assert solution.shout("go on") == "GO ON!"


def test_positive():
    assert solution.positive("7") == 7


def test_positive_refuses():
    with pytest.raises(ValueError):
        solution.positive("-3")


def test_count():
    assert solution.count(["a", "b"], "a") == 1
"""

#: What tests of an `in-process` task say of types themselves; `split` compares them anyway.
TYPES = """

def test_types():
    assert type(solution.total([2, 3])) is int
    assert type(solution.ordered(["b"])) is list
    assert type(solution.tally(["b"])) is dict
    assert type(solution.shout("b")) is str
    assert type(solution.count(["a"], "a")) is int
"""

NUMBERS = "MANY = [10, 20, 30, 41]\nTHEIR_SUM = 101\n"

#: How long one grade of the attack suite may take, s.
GRADE_SECONDS = 10.0
ISOLATION = "userns"


def file_of(text: str | bytes) -> File:
    """Return a file of a tree."""
    return File(text if isinstance(text, bytes) else text.encode())


FIXTURE: Tree = {"solution.py": file_of(WRONG), "README.md": file_of("Six functions.\n")}


def suite_of(trust: str, types: bool) -> str:
    """Return the hidden tests of one trust level, with or without those of types."""
    text = TESTS.format(imports=IMPORTS[trust])
    return text + TYPES if types and trust != SPLIT else text


def expected_of(tests: str) -> tuple[str, ...]:
    """Return the ids that must pass."""
    names = [line[4 : line.index("(")] for line in tests.splitlines() if line.startswith("def ")]
    return tuple(f"{TEST}::{name}" for name in names)


def grader_of(trust: str, tests: str, seconds: float = GRADE_SECONDS) -> FrozenGrader:
    """Return the grader as a freeze would, without a pack."""
    words = ["pytest", "-q", TEST]
    argv = ["python", "-m", *words, "-p", "no:cacheprovider"] if trust == EXIT_STATUS else words
    return FrozenGrader(
        digest="0" * 64,
        material={
            "argv": argv,
            "grader_trust": trust,
            "grade_timeout_s": seconds,
            "hidden_folders": [],
        },
        hidden={TEST: file_of(tests), "tests/support/numbers.py": file_of(NUMBERS)},
        solution={"solution.py": file_of(RIGHT)},
        tests=(TEST,),
    )


@dataclass(frozen=True)
class Arena:
    """One grader, open for as many artifacts as there are."""

    trust: str
    environment: Path
    grading: Grading
    expected: tuple[str, ...] | None

    def grade(self, tree: Tree) -> Graded:
        """Grade an artifact the way a cell does."""
        return self.grading.grade(tree, FIXTURE, self.expected)


@contextmanager
def arena(
    trust: str,
    environment: Path,
    *,
    types: bool = False,
    tests: str | None = None,
    seconds: float = GRADE_SECONDS,
) -> Iterator[Arena]:
    """Open the grader of one trust level, with the suite's tests or others."""
    tests = suite_of(trust, types) if tests is None else tests.format(imports=IMPORTS[trust])
    expected = None if trust == EXIT_STATUS else expected_of(tests)
    with Grading(grader_of(trust, tests, seconds), environment, ISOLATION) as grading:
        yield Arena(trust, environment, grading, expected)


@dataclass(frozen=True)
class Taken:
    """What came out of an agent's work folder."""

    tree: Tree
    notes: tuple[str, ...]
    limit: str | None
    output: str
    seconds: float


def agents_box(work: Path, environment: Path, seconds: float) -> Box:
    """Return the box of a `command` agent."""
    return Box(ISOLATION, work, environment=environment, limits=Limits(seconds=seconds))


def made_by_agent(
    files: Tree, script: str | None, environment: Path, seconds: float = 10.0
) -> Taken:
    """Write files into a work folder, let a script work there in an agent's box, take them out."""
    with work_folder() as work:
        for path, file in files.items():
            target = work / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
            target.chmod(0o755 if file.executable else 0o644)
        begun = time.monotonic()
        output = b""
        if script is not None:
            box = agents_box(work, environment, seconds)
            output = run(box, [box.python, "-c", script]).output
        tree, notes, limit = take_tree(work)
        return Taken(
            tree, tuple(notes), limit, output.decode("utf-8", "replace"), time.monotonic() - begun
        )
