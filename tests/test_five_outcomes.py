"""The five outcomes: an oracle written from the text of PROTOCOL 6 over all combinations."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from frozenbench.outcomes import (
    AGENT_ERRORS,
    ENDINGS,
    INFRASTRUCTURE,
    METERS,
    OUTCOMES,
    REASONS,
    Decision,
    End,
    Judgement,
    cap_of,
    decide,
)

#: PROTOCOL 6, the column of reasons, word for word.
PROTOCOL = {
    "ERROR": (
        "endpoint_down pin_drift grader_broken killed startup_timeout adapter_crash resource_limit "
        "missing_artifact"
    ),
    "FAIL_ASSUME": "banned_string banned_symbol ghost_import ghost_name",
    "PASS": "finished green_at_cap",
    "EXHAUSTED": "tool_calls edit_rounds tokens wall_clock",
    "FAIL_TEST": (
        "tampered artifact_limit grader_timeout no_tests_ran no_change gave_up import_error "
        "assertion"
    ),
}
CAPS = ("cap:tool_calls", "cap:edit_rounds", "cap:tokens", "cap:wall_clock")
GRADER_FAILURES = ("tampered", "grader_timeout", "no_tests_ran", "import_error", "assertion")

Case = tuple[End, Judgement]


def cases() -> Iterator[Case]:
    """Every combination of what can come together; a tree that is not green has a reason."""
    for ending, changed, missing, limit in itertools.product(
        ENDINGS, (True, False), (True, False), (True, False)
    ):
        end = End(ending, changed=changed, missing_artifact=missing, artifact_limit=limit)
        for green, broken, failure, banned, ghost in itertools.product(
            (True, False),
            (True, False),
            (None, *GRADER_FAILURES),
            (None, "banned_string", "banned_symbol"),
            (None, "ghost_import", "ghost_name"),
        ):
            # A verdict is green, or broken, or says why not; a banned tree is not graded at all.
            told = [green, broken, failure is not None]
            if sum(told) == 1 or (not any(told) and banned is not None):
                yield end, Judgement(green, broken, failure, banned, ghost)


def by_protocol(end: End, seen: Judgement) -> tuple[str, str]:
    """The first row of PROTOCOL 6 that applies, row by row as it stands there."""
    # ERROR: the machinery failed.
    straight = ("endpoint_down", "pin_drift", "killed", "startup_timeout", "resource_limit")
    if end.ending in straight:
        return "ERROR", end.ending
    if end.ending == "crashed":
        return "ERROR", "adapter_crash"
    if seen.broken:
        return "ERROR", "grader_broken"
    if end.ending == "finished" and end.missing_artifact:
        return "ERROR", "missing_artifact"
    # FAIL_ASSUME: a ban; or ended by itself, not green, and a ghost.
    if seen.banned:
        return "FAIL_ASSUME", seen.banned
    if end.ending in ("finished", "gave_up") and not seen.green and seen.ghost:
        return "FAIL_ASSUME", seen.ghost
    # PASS: green, also when it gave up, and when a cap was hit.
    if seen.green:
        return "PASS", "green_at_cap" if end.ending in CAPS else "finished"
    # EXHAUSTED: a cap was hit, and it is not green.
    if end.ending in CAPS:
        return "EXHAUSTED", end.ending[4:]
    # FAIL_TEST: the first reason of the list.
    reasons = {
        "tampered": seen.failure == "tampered",
        "artifact_limit": end.artifact_limit,
        "grader_timeout": seen.failure == "grader_timeout",
        "no_tests_ran": seen.failure == "no_tests_ran",
        "no_change": not end.changed,
        "gave_up": end.ending == "gave_up",
        "import_error": seen.failure == "import_error",
        "assertion": seen.failure == "assertion",
    }
    return "FAIL_TEST", next(reason for reason, holds in reasons.items() if holds)


def test_the_protocol_s_outcomes_and_reasons_are_the_ones_that_exist() -> None:
    assert {name: tuple(text.split()) for name, text in PROTOCOL.items()} == REASONS
    assert set(OUTCOMES) == set(PROTOCOL)
    assert len(OUTCOMES) == 5


def test_every_combination_has_the_outcome_that_the_protocol_gives_it() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for end, judgement in cases():
        decision = decide(end, judgement)
        assert (decision.outcome, decision.reason) == by_protocol(end, judgement), (end, judgement)
        assert decision.reason in REASONS[decision.outcome]
        seen[decision.outcome, decision.reason] += 1
    every = {(outcome, reason) for outcome, text in PROTOCOL.items() for reason in text.split()}
    assert set(seen) == every, "each row and each reason is reached"
    assert sum(seen.values()) > 5000


def test_a_cap_stands_beside_the_outcome_and_is_never_lost() -> None:
    for end, judgement in cases():
        decision = decide(end, judgement)
        assert decision.cap_hit == cap_of(end.ending), (end, judgement)
        if decision.outcome == "EXHAUSTED":
            assert decision.cap_hit == decision.reason
        if decision.reason == "green_at_cap":
            assert decision.cap_hit in METERS


@pytest.mark.parametrize("ending", ["finished", "gave_up"])
@pytest.mark.parametrize("failure", ["import_error", "assertion", "no_tests_ran", "tampered"])
def test_an_agent_that_says_timeout_and_stops_is_not_exhausted(ending: str, failure: str) -> None:
    """C15: what decides is whether a cap was hit, not what an agent calls its end."""
    decision = decide(End(ending), Judgement(green=False, failure=failure))
    assert decision.outcome == "FAIL_TEST"
    assert decision.cap_hit is None


@pytest.mark.parametrize("meter", METERS)
def test_a_cap_was_hit_and_the_artifact_is_green(meter: str) -> None:
    """C16: one rule, PASS with the cap beside it."""
    decision = decide(End(f"cap:{meter}"), Judgement(green=True))
    assert decision == Decision("PASS", "green_at_cap", meter)


def test_a_grader_s_time_limit_is_a_failed_test() -> None:
    """B14: the agent's budget was not what ran out."""
    decision = decide(End("finished"), Judgement(green=False, failure="grader_timeout"))
    assert decision == Decision("FAIL_TEST", "grader_timeout", None)


@pytest.mark.parametrize("meter", METERS)
def test_a_ghost_never_decides_where_a_cap_cut_the_agent_off(meter: str) -> None:
    judgement = Judgement(green=False, failure="import_error", ghost="ghost_import")
    assert decide(End(f"cap:{meter}"), judgement).outcome == "EXHAUSTED"


def test_a_missing_artifact_is_an_error_of_those_that_finished_alone() -> None:
    judgement = Judgement(green=False, failure="assertion")
    for ending in ("gave_up", *CAPS):
        assert decide(End(ending, missing_artifact=True), judgement).outcome != "ERROR"
    for green in (True, False):
        seen = Judgement(green, failure=None if green else "assertion")
        assert decide(End("finished", missing_artifact=True), seen).reason == "missing_artifact"


def test_only_reasons_of_the_machinery_may_be_tried_again() -> None:
    assert set(INFRASTRUCTURE) | set(AGENT_ERRORS) == set(REASONS["ERROR"])
    assert not set(INFRASTRUCTURE) & set(AGENT_ERRORS)


@pytest.mark.parametrize("ending", ["timeout", "cap:money", "cap:", ""])
def test_an_unknown_ending_is_a_fault_and_no_sixth_outcome(ending: str) -> None:
    with pytest.raises(ValueError, match="unknown ending"):
        decide(End(ending), Judgement(green=True))


def test_not_green_and_no_reason_why_is_a_fault() -> None:
    with pytest.raises(ValueError, match="no reason"):
        decide(End("finished"), Judgement(green=False))
