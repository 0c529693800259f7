"""What a pack check finds: one thing that is wrong with one task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "reference_fails",
    "start_passes",
    "known_wrong_passes",
    "grader_broken",
    "flaky_tests",
    "ids_differ",
    "no_expected_ids",
    "file_without_test",
    "slow_grader",
    "weak_trust",
    "unqualified",
]
#: What a later check cannot take back: the same digest is the same tests.
LASTING: tuple[Kind, ...] = ("flaky_tests", "ids_differ")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a task.

    Attributes:
        task: its id.
        kind: the finding's name.
        found: what was found.
        cure: what would mend it.
        log: the last lines of the grader's output, for the terminal; they are not stored.
        earlier: seen by an earlier check of the same digest, and not by this one.
    """

    task: str
    kind: Kind
    found: str
    cure: str
    log: tuple[str, ...] = ()
    earlier: bool = False
