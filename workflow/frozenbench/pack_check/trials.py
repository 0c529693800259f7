"""Grade what a pack brings itself: each reference k times, each starting tree, each known wrong.

No verdict is stored or looked up: a stored one would answer every repeat with the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from frozenbench.assume import banned_string, banned_symbol
from frozenbench.canonical import Tree
from frozenbench.freeze_expected import static_ids
from frozenbench.grade.grading import FrozenGrader, grade_tree
from frozenbench.outcomes import End, Judgement, decide
from frozenbench.packs import Grader, Task

Ids = tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """What one tree would be called, had an agent ended with it.

    Attributes:
        outcome: one of the five; EXHAUSTED never comes out of a trial.
        reason: its reason.
        note: the grader's line on why.
        ids: the test ids that passed.
        seconds: how long the grader took, in seconds; 0 where a ban made grading needless.
        log: what the grader printed.
    """

    outcome: str
    reason: str
    note: str = ""
    ids: Ids = ()
    seconds: float = 0.0
    log: str = ""

    @property
    def passed(self) -> bool:
        """Whether it would be PASS."""
        return self.outcome == "PASS"


@dataclass(frozen=True)
class Tried:
    """All trials of one task.

    Attributes:
        start: the starting tree.
        reference: the reference solution, once a repeat; empty where there is none.
        known_wrong: the known wrong solution, or None where there is none.
        expected: the ids that start and known wrong were held to; None where the grader has none.
    """

    task: Task
    start: Trial
    reference: tuple[Trial, ...]
    known_wrong: Trial | None
    expected: Ids | None


@dataclass(frozen=True)
class Bench:
    """Where trials run: a built pack environment and a level of isolation."""

    environment: Path
    isolation: str

    def try_task(self, task: Task, repeats: int) -> Tried:
        """Grade all that a task brings; the reference `repeats` times."""
        reference = self._reference(task, repeats)
        expected = _expected(task, reference)
        wrong = task.known_wrong
        return Tried(
            task=task,
            start=self._try(task, task.fixture, expected, ()),
            reference=reference,
            known_wrong=None
            if wrong is None
            else self._try(task, {**task.fixture, **wrong}, expected, task.artifact),
            expected=expected,
        )

    def _reference(self, task: Task, repeats: int) -> tuple[Trial, ...]:
        """Run 1 finds the expected ids, as in an experiment; the others are held to them."""
        if task.grader.solution is None:
            return ()
        tree = {**task.fixture, **task.grader.solution}
        first = self._try(task, tree, None, task.artifact)
        if not first.ids and (known := static_ids(frozen(task.grader))):
            # Held to nothing, a run in which every test failed is told like one without a test.
            first = self._try(task, tree, tuple(known), task.artifact)
        held = first.passed and task.grader.trust != "exit-status"
        expected = tuple(sorted(set(first.ids))) if held else None
        others = [self._try(task, tree, expected, task.artifact) for _ in range(repeats - 1)]
        return (first, *others)

    def _try(self, task: Task, tree: Tree, expected: Ids | None, due: Ids) -> Trial:
        grader = task.grader
        ban = banned_string(task.fixture, tree, grader.must_not_contain) or banned_symbol(
            task.fixture, tree, grader.must_not_use
        )
        if ban is not None:
            return Trial("FAIL_ASSUME", ban.reason, f"{ban.what} at {ban.path}:{ban.line}")
        graded = grade_tree(
            frozen(grader), tree, task.fixture, self.environment, self.isolation, expected
        )
        verdict = graded.verdict
        missing = [path for path in due if path not in tree]
        end = End("finished", missing_artifact=bool(missing))
        decision = decide(end, Judgement(verdict.green, verdict.broken, verdict.failure))
        note = f"{missing[0]} is not there" if missing else verdict.note
        ids = verdict.ids
        return Trial(decision.outcome, decision.reason, note, ids, graded.seconds, graded.log)


def frozen(grader: Grader) -> FrozenGrader:
    """Return a pack's grader in the form in which grading takes it."""
    return FrozenGrader(
        grader.digest, grader.material, grader.hidden, grader.solution, grader.tests
    )


def _expected(task: Task, reference: tuple[Trial, ...]) -> Ids | None:
    if task.grader.trust == "exit-status":
        return None
    if task.grader.solution is None:
        return tuple(static_ids(frozen(task.grader)))
    return tuple(sorted({name for trial in reference for name in trial.ids}))
