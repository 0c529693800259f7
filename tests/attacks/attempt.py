"""One attack on one grader: what came of it, and what it left behind."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from attack_table import Attack
from attack_task import arena, made_by_agent
from frozenbench.grade.grading import Graded
from host_state import Left, new_mark, watched


@dataclass(frozen=True)
class Attempt:
    """What came of an attack under one trust level."""

    attack: Attack
    trust: str
    graded: tuple[Graded, ...]  # of the artifact, and of the cell after it where there is one
    left: Left
    seconds: float

    @property
    def called_pass(self) -> bool:
        """Whether anything that does not solve its task is called green."""
        return any(graded.verdict.green for graded in self.graded)

    @property
    def broken(self) -> bool:
        """Whether the attack made a grader look broken, which would hide a failure as ERROR."""
        return any(graded.verdict.broken for graded in self.graded)

    @property
    def word(self) -> str:
        """Return what the table says."""
        if self.called_pass:
            return "PASS"
        first = self.graded[0].verdict
        return "ERROR" if first.broken else str(first.failure)


def attempt(attack: Attack, trust: str, environment: Path) -> Attempt:
    """Let an agent make the artifact, and grade it and what comes after it with one grader."""
    mark = new_mark()
    begun = time.monotonic()
    with watched(environment, mark) as left:
        taken = made_by_agent(attack.files(mark), attack.script(mark), environment)
        with arena(trust, environment, types=attack.types) as grader:
            graded = [grader.grade(taken.tree)]
            following = attack.next(mark)
            if following is not None:
                graded.append(grader.grade(following))
    return Attempt(attack, trust, tuple(graded), left, time.monotonic() - begun)
