"""From what came over the report pipe to green or not, as a pure function.

Exit codes alone never pass: green needs each expected test id reported as passed exactly once, and
the harness's end mark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Facts that are texts.
TEXTS = ("test", "collect_error", "broken", "tampered")

#: pytest's own status for a wrong command line: the pack's fault.
USAGE_ERROR = 4


@dataclass(frozen=True)
class Verdict:
    """What a grader said of one tree.

    Attributes:
        green: proved to have passed.
        broken: the grader itself failed.
        failure: where not green: one of outcomes.FAIL_TEST_REASONS.
        expected: number of expected tests, None where the grader reports no ids.
        passed: how many of them passed, None likewise.
        ids: ids that passed, in order of report (for `freeze_expected`).
        note: one line on why.
    """

    green: bool
    broken: bool = False
    failure: str | None = None
    expected: int | None = None
    passed: int | None = None
    ids: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """The facts that a grading process left.

    Attributes:
        report: bytes of the report pipe.
        nonce: what each genuine line holds.
        timed_out: the grader's clock ended it.
        exit_status: of the process; None where a signal ended it.
    """

    report: bytes
    nonce: str
    timed_out: bool
    exit_status: int | None


def facts_of(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the genuine lines of a report; a cut, foreign or forged line is none."""
    found = []
    for line in evidence.report.split(b"\n"):
        try:
            fact = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fact, dict) and fact.get("nonce") == evidence.nonce and _well_formed(fact):
            found.append(fact)
    return found


def _well_formed(fact: dict[str, Any]) -> bool:
    """Tell whether a line is of a harness's form: one that is not comes from the candidate."""
    if "test" in fact and fact.get("outcome") not in ("passed", "failed", "skipped"):
        return False
    texts = all(isinstance(fact.get(name, ""), str) for name in TEXTS)
    return texts and type(fact.get("end", 0)) is int


def judge_tests(evidence: Evidence, expected: Sequence[str] | None) -> Verdict:
    """Judge a run of tests with ids.

    Args:
        evidence: what the process left.
        expected: ids that must pass, `name[*]` standing for all its parameters; None: judge
            without expectation (every collected test must pass).
    """
    facts = facts_of(evidence)
    outcomes = [(f["test"], f["outcome"]) for f in facts if "test" in f]
    passed = [test for test, outcome in outcomes if outcome == "passed"]
    wanted = list(expected) if expected is not None else list(dict.fromkeys(passed))
    counted = sum(1 for name in wanted if any(matches(name, test) for test in passed))
    verdict = Verdict(False, expected=len(wanted), passed=counted, ids=tuple(passed))
    if not any("begin" in fact for fact in facts):
        if evidence.timed_out:
            return _no(verdict, "grader_timeout", "the clock fell before the harness was ready")
        return _broken(verdict, "the test harness did not start")
    if evidence.timed_out:
        return _no(verdict, "grader_timeout", "the grader's clock fell")
    ends = [fact["end"] for fact in facts if "end" in fact]
    if ends == [USAGE_ERROR] and not any("started" in fact for fact in facts):
        return _broken(verdict, "pytest refused its command line")
    if not ends:
        return _no_end(verdict, evidence, bool(outcomes))
    failure = _failure(facts, outcomes, wanted, ends)
    if failure is not None:
        return _no(verdict, *failure)
    return Verdict(True, expected=len(wanted), passed=counted, ids=tuple(passed))


def _no(verdict: Verdict, failure: str, note: str) -> Verdict:
    return Verdict(False, False, failure, verdict.expected, verdict.passed, verdict.ids, note)


def _broken(verdict: Verdict, note: str) -> Verdict:
    return Verdict(False, True, None, verdict.expected, verdict.passed, verdict.ids, note)


def _no_end(verdict: Verdict, evidence: Evidence, ran: bool) -> Verdict:
    if evidence.exit_status is None:
        return _no(verdict, "assertion", "a signal ended the tests")
    note = f"the tests ended with status {evidence.exit_status} and without their end mark"
    return _no(verdict, "tampered" if ran else "no_tests_ran", note)


def _failure(
    facts: list[dict[str, Any]],
    outcomes: list[tuple[str, str]],
    wanted: list[str],
    ends: list[int],
) -> tuple[str, str] | None:
    """Return reason and note of the first thing that speaks against green."""
    if changed := [fact["tampered"] for fact in facts if "tampered" in fact]:
        return "tampered", changed[0]
    if errors := [fact["collect_error"] for fact in facts if "collect_error" in fact]:
        return "import_error", f"{errors[0]} cannot be imported"
    if not outcomes:
        return "no_tests_ran", "no test ran"
    if failed := [test for test, outcome in outcomes if outcome == "failed"]:
        return "assertion", f"{len(failed)} failed, the first {failed[0]}"
    if not wanted:
        return "no_tests_ran", "no test is expected"
    counts = Counter(test for test, _ in outcomes)
    if repeated := [test for test, count in counts.items() if count > 1]:
        return "tampered", f"{repeated[0]} was reported {counts[repeated[0]]} times"
    passed = [test for test, outcome in outcomes if outcome == "passed"]
    if absent := [name for name in wanted if not any(matches(name, test) for test in passed)]:
        reason = "no_tests_ran" if not passed else "tampered"
        return reason, f"{len(absent)} expected tests did not pass, the first {absent[0]}"
    if ends != [0]:
        return "tampered", f"all expected tests passed, and pytest ended with {ends}"
    return None


def matches(expected: str, test: str) -> bool:
    """Tell whether a reported id is the expected one; `name[*]` matches any parameters."""
    if expected.endswith("[*]"):
        base = expected[:-3]
        return test == base or test.startswith(f"{base}[")
    return test == expected


def judge_command(evidence: Evidence) -> Verdict:
    """Judge a command without test ids: exit status 0 and the harness's end mark."""
    facts = facts_of(evidence)
    if evidence.timed_out:
        return Verdict(False, failure="grader_timeout", note="the grader's clock fell")
    if not any("begin" in fact for fact in facts):
        return Verdict(False, broken=True, note="the harness did not start")
    if broken := [fact["broken"] for fact in facts if "broken" in fact]:
        return Verdict(False, broken=True, note=f"the command cannot start: {broken[0]}")
    ends = [fact["end"] for fact in facts if "end" in fact]
    if len(ends) != 1:
        return Verdict(False, failure="tampered", note="without the harness's end mark")
    if ends[0] != 0:
        return Verdict(False, failure="assertion", note=f"the command ended with {ends[0]}")
    return Verdict(True)
