"""The five outcomes and their precedence, as one pure function.

PROTOCOL: *exactly five*; the first row that applies. Nothing here reads a file or a clock: what
happened in a run and what the grader saw come in as two frozen records, an outcome comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["PASS", "FAIL_TEST", "FAIL_ASSUME", "EXHAUSTED", "ERROR"]
OUTCOMES: tuple[Outcome, ...] = ("PASS", "FAIL_TEST", "FAIL_ASSUME", "EXHAUSTED", "ERROR")

#: Meters in the order that decides between two caps hit by the same event.
METERS = ("tool_calls", "edit_rounds", "tokens", "wall_clock")

#: Why a run ended. `cap:<meter>` stands for the four caps.
ENDINGS = (
    "finished",
    "gave_up",
    *(f"cap:{meter}" for meter in METERS),
    "crashed",
    "resource_limit",
    "killed",
    "endpoint_down",
    "pin_drift",
    "startup_timeout",
)

#: Reasons of ERROR that say nothing of the agent: `frozenbench retry` may try these cells again.
INFRASTRUCTURE = ("endpoint_down", "pin_drift", "grader_broken", "killed", "startup_timeout")
#: Reasons of ERROR on the agent's side.
AGENT_ERRORS = ("adapter_crash", "resource_limit", "missing_artifact")
ASSUME_BANS = ("banned_string", "banned_symbol")
ASSUME_GHOSTS = ("ghost_import", "ghost_name")
PASS_REASONS = ("finished", "green_at_cap")
#: Reasons of FAIL_TEST in the order of PROTOCOL: the first that holds is named.
FAIL_TEST_REASONS = (
    "tampered",
    "artifact_limit",
    "grader_timeout",
    "no_tests_ran",
    "no_change",
    "gave_up",
    "import_error",
    "assertion",
)

REASONS: dict[Outcome, tuple[str, ...]] = {
    "PASS": PASS_REASONS,
    "FAIL_TEST": FAIL_TEST_REASONS,
    "FAIL_ASSUME": (*ASSUME_BANS, *ASSUME_GHOSTS),
    "EXHAUSTED": METERS,
    "ERROR": (*INFRASTRUCTURE, *AGENT_ERRORS),
}

_ENDING_ERRORS = {
    "endpoint_down": "endpoint_down",
    "pin_drift": "pin_drift",
    "killed": "killed",
    "startup_timeout": "startup_timeout",
    "crashed": "adapter_crash",
    "resource_limit": "resource_limit",
}


@dataclass(frozen=True)
class End:
    """How a run stood at the step that is judged.

    Attributes:
        ending: one of ENDINGS.
        changed: whether the artifact differs from the fixture.
        missing_artifact: whether a path that the task asks for is not there.
        artifact_limit: whether the tree was too large to be taken out whole.
    """

    ending: str
    changed: bool = True
    missing_artifact: bool = False
    artifact_limit: bool = False


@dataclass(frozen=True)
class Judgement:
    """What the grader and the reading of the agent's lines found.

    Attributes:
        green: every expected test is proved to have passed.
        broken: the grader itself failed, so that nothing can be said.
        failure: where not green, the grader's own reason: one of `tampered`, `grader_timeout`,
            `no_tests_ran`, `import_error`, `assertion`.
        banned: `banned_string`, `banned_symbol` or None.
        ghost: `ghost_import`, `ghost_name` or None.
    """

    green: bool
    broken: bool = False
    failure: str | None = None
    banned: str | None = None
    ghost: str | None = None


@dataclass(frozen=True)
class Decision:
    """One cell's outcome, its reason, and the meter of the cap that was hit (or None)."""

    outcome: Outcome
    reason: str
    cap_hit: str | None


def cap_of(ending: str) -> str | None:
    """Return the meter of a `cap:<meter>` ending, else None."""
    return ending.removeprefix("cap:") if ending.startswith("cap:") else None


def decide(end: End, judgement: Judgement) -> Decision:
    """Put a cell into exactly one outcome: the first row of PROTOCOL 6 that applies.

    Raises:
        ValueError: an ending or a reason that PROTOCOL does not know.
    """
    if end.ending not in ENDINGS:
        raise ValueError(f"unknown ending {end.ending!r}")
    cap = cap_of(end.ending)
    by_itself = end.ending in ("finished", "gave_up")
    if (error := _error(end, judgement)) is not None:
        return Decision("ERROR", error, cap)
    if judgement.banned is not None:
        return Decision("FAIL_ASSUME", judgement.banned, cap)
    if by_itself and not judgement.green and judgement.ghost is not None:
        return Decision("FAIL_ASSUME", judgement.ghost, None)
    if judgement.green:
        return Decision("PASS", "finished" if cap is None else "green_at_cap", cap)
    if cap is not None:
        return Decision("EXHAUSTED", cap, cap)
    return Decision("FAIL_TEST", _fail_test_reason(end, judgement), None)


def _error(end: End, judgement: Judgement) -> str | None:
    if end.ending in _ENDING_ERRORS:
        return _ENDING_ERRORS[end.ending]
    if judgement.broken:
        return "grader_broken"
    if end.ending == "finished" and end.missing_artifact:
        return "missing_artifact"
    return None


def _fail_test_reason(end: End, judgement: Judgement) -> str:
    holds = {
        "artifact_limit": end.artifact_limit,
        "no_change": not end.changed,
        "gave_up": end.ending == "gave_up",
    }
    if judgement.failure is not None:
        holds[judgement.failure] = True
    for reason in FAIL_TEST_REASONS:
        if holds.get(reason, False):
            return reason
    raise ValueError(f"not green, and no reason why: {judgement}")
