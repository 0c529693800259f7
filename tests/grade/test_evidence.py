"""From a report to green or not: exit codes alone never pass, and no line can be forged or broken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from frozenbench.grade.evidence import (
    Evidence,
    Verdict,
    facts_of,
    judge_command,
    judge_tests,
    matches,
)
from frozenbench.outcomes import FAIL_TEST_REASONS
from hypothesis import given, settings
from hypothesis import strategies as st

NONCE = "a1b2"
BEGIN, END = {"begin": True}, {"end": 0}


def told(name: str, outcome: str = "passed") -> dict[str, str]:
    return {"test": name, "outcome": outcome}


def evidence(*facts: Any, status: int | None = 0, timed_out: bool = False) -> Evidence:
    """What a process left: facts of the harness, or raw bytes."""
    lines = [
        fact if isinstance(fact, bytes) else json.dumps({"nonce": NONCE, **fact}).encode()
        for fact in facts
    ]
    return Evidence(b"\n".join(lines) + b"\n", NONCE, timed_out, status)


def verdict(*facts: Any, expected: Any = ("t::a", "t::b"), **more: Any) -> Verdict:
    return judge_tests(evidence(*facts, **more), expected)


GOOD = (BEGIN, told("t::a"), told("t::b"), END)


def test_green_is_every_expected_id_once_and_the_end_mark() -> None:
    assert verdict(*GOOD) == Verdict(True, expected=2, passed=2, ids=("t::a", "t::b"))
    assert verdict(*GOOD, told("t::more")).green, "tests beyond the expected ones do no harm"


@pytest.mark.parametrize(
    ("facts", "failure"),
    [
        # B.9: no test ran
        ((BEGIN, END), "no_tests_ran"),
        ((BEGIN, {"end": 5}), "no_tests_ran"),
        # the candidate ended pytest with the status of a wrong command line
        ((BEGIN, {"started": True}, {"end": 4}), "no_tests_ran"),
        ((BEGIN, {"started": True}, told("t::a"), {"end": 4}), "tampered"),
        ((BEGIN, told("t::a", "skipped"), told("t::b", "skipped"), END), "no_tests_ran"),
        # B.10: an exit status that the artifact wrote
        ((BEGIN,), "no_tests_ran"),
        ((BEGIN, told("t::a")), "tampered"),
        ((BEGIN, told("t::a"), told("t::b")), "tampered"),
        # the rest
        ((BEGIN, {"collect_error": "t"}, {"end": 2}), "import_error"),
        ((BEGIN, {"collect_error": "t"}, *GOOD[1:]), "import_error"),
        ((BEGIN, told("t::a"), told("t::b", "failed"), {"end": 1}), "assertion"),
        ((BEGIN, told("t::a"), told("t::b", "failed"), END), "assertion"),
        ((BEGIN, told("t::a"), END), "tampered"),
        ((BEGIN, told("t::a"), told("t::b", "skipped"), END), "tampered"),
        ((BEGIN, told("t::a"), told("t::a"), told("t::b"), END), "tampered"),
        ((*GOOD[:3], {"end": 1}), "tampered"),
        ((*GOOD, {"end": 0}), "tampered"),
        ((*GOOD[:3], {"end": True}), "tampered"),
        # the harness saw that a test called passed had not run to its end
        ((*GOOD[:3], {"tampered": "t::b"}, END), "tampered"),
        ((BEGIN, {"tampered": "t::b"}, {"collect_error": "t"}, END), "tampered"),
    ],
)
def test_anything_else_is_not_green(facts: Any, failure: str) -> None:
    found = verdict(*facts)
    assert (found.green, found.broken, found.failure) == (False, False, failure)
    assert found.note


def test_a_process_that_a_signal_ended_failed_its_tests() -> None:
    assert verdict(BEGIN, told("t::a"), status=None).failure == "assertion"


@pytest.mark.parametrize("facts", [(), (BEGIN,), GOOD], ids=["nothing", "begun", "all"])
def test_a_fallen_clock_is_a_time_limit_whatever_was_reported(facts: Any) -> None:
    """B.14, and B.12: a report that is whole does not count once the clock fell."""
    assert verdict(*facts, timed_out=True).failure == "grader_timeout"


@pytest.mark.parametrize("facts", [(), (told("t::a"), told("t::b"), END), (BEGIN, {"end": 4})])
def test_a_harness_that_did_not_start_is_the_grader_s_own_fault(facts: Any) -> None:
    found = verdict(*facts)
    assert (found.green, found.broken, found.failure) == (False, True, None)


def test_without_expectation_every_collected_test_must_pass() -> None:
    assert verdict(*GOOD, expected=None).green
    found = verdict(BEGIN, told("t::a"), told("t::b", "failed"), {"end": 1}, expected=None)
    assert (found.failure, found.ids) == ("assertion", ("t::a",))
    assert verdict(BEGIN, END, expected=None).failure == "no_tests_ran"


def test_no_expected_test_is_never_green() -> None:
    assert verdict(*GOOD, expected=()).failure == "no_tests_ran"


@pytest.mark.parametrize(
    ("expected", "test_id", "right"),
    [
        ("t::a", "t::a", True),
        ("t::a", "t::a[1]", False),
        ("t::a[1]", "t::a[1]", True),
        ("t::a[*]", "t::a[1]", True),
        ("t::a[*]", "t::a", True),
        ("t::a[*]", "t::ab[1]", False),
        ("t::a[*]", "t::b[1]", False),
    ],
)
def test_an_expected_id_stands_for_itself_or_for_its_parameters(
    expected: str, test_id: str, right: bool
) -> None:
    assert matches(expected, test_id) is right


def test_how_many_passed_is_told_also_where_it_is_not_green() -> None:
    found = verdict(BEGIN, told("t::a"), told("t::b", "failed"), {"end": 1})
    assert (found.expected, found.passed) == (2, 1)


MALFORMED = [
    b"",
    b"not json",
    b"[1]",
    b'{"nonce": "other", "test": "t::b", "outcome": "passed"}',
    b'{"test": "t::b", "outcome": "passed"}',
    b'{"nonce": "a1b2", "test": "t::b"',  # cut
    b'{"nonce": "a1b2", "test": "t::b"}',
    b'{"nonce": "a1b2", "test": ["t::b"], "outcome": "passed"}',
    b'{"nonce": "a1b2", "test": {"a": 1}, "outcome": "passed"}',
    b'{"nonce": "a1b2", "test": "t::b", "outcome": "fine"}',
    b'{"nonce": "a1b2", "end": "0"}',
    b'{"nonce": "a1b2", "end": [0]}',
    b'{"nonce": "a1b2", "collect_error": {}}',
    b'{"nonce": "a1b2", "tampered": 1}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: ascii(line[:40]))
def test_a_cut_foreign_or_forged_line_is_none(line: bytes) -> None:
    assert facts_of(evidence(line)) == []
    assert verdict(BEGIN, told("t::a"), line, END).failure == "tampered", "t::b is missing"
    assert verdict(*GOOD[:2], line, *GOOD[2:]).green, "and nothing is lost by it"


FACTS = st.one_of(
    st.sampled_from([BEGIN, END, {"end": 1}, {"end": 5}, {"collect_error": "t"}]),
    st.builds(
        told,
        st.sampled_from(["t::a", "t::b", "t::c"]),
        st.sampled_from(["passed", "failed", "skipped"]),
    ),
    st.sampled_from(MALFORMED),
    st.dictionaries(
        st.sampled_from(["test", "outcome", "end", "begin", "collect_error", "broken"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=2) | st.lists(st.none()),
    ),
)


@settings(max_examples=300)
@given(st.lists(FACTS, max_size=8), st.none() | st.integers(0, 5), st.booleans())
def test_green_has_all_of_its_evidence_whatever_is_reported(
    facts: list[Any], status: int | None, timed_out: bool
) -> None:
    found = verdict(*facts, status=status, timed_out=timed_out)
    assert [found.green, found.broken, found.failure is not None].count(True) == 1
    if found.failure is not None:
        assert found.failure in FAIL_TEST_REASONS
    if found.green:
        reported = [fact for fact in facts if isinstance(fact, dict)]
        assert reported.count(told("t::a")) == reported.count(told("t::b")) == 1
        assert END in reported
        assert not timed_out


@pytest.mark.parametrize(
    ("facts", "more", "right"),
    [
        ((BEGIN, END), {}, Verdict(True)),
        ((BEGIN, {"end": 1}), {}, ("assertion", False)),
        ((BEGIN,), {}, ("tampered", False)),
        ((BEGIN, END, END), {}, ("tampered", False)),
        ((END,), {}, (None, True)),
        ((), {}, (None, True)),
        ((BEGIN, {"broken": "No such file"}), {}, (None, True)),
        ((BEGIN, END), {"timed_out": True}, ("grader_timeout", False)),
        ((BEGIN, END), {"status": 1}, Verdict(True)),
    ],
)
def test_a_command_is_green_by_status_0_and_the_harness_s_end_mark(
    facts: Any, more: Any, right: Any
) -> None:
    found = judge_command(evidence(*facts, **more))
    if isinstance(right, Verdict):
        assert found == right
    else:
        assert (found.failure, found.broken) == right
        assert not found.green
        assert found.note
