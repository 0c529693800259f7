"""pack check: from trials to findings, without a grader; and its progress."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from frozenbench.canonical import File
from frozenbench.freeze_expected import static_ids
from frozenbench.pack_check.finding import Finding
from frozenbench.pack_check.findings import findings_of, unseen_share
from frozenbench.pack_check.progress import Progress
from frozenbench.pack_check.stored import remembered
from frozenbench.pack_check.trials import Trial, Tried, frozen
from frozenbench.packs import read_pack
from tried_pack import PACK, TEST, SmallPack

PASSED = Trial("PASS", "finished", "", ("t.py::a", "t.py::b"), 0.5)
FAILED = Trial("FAIL_TEST", "assertion", "1 failed, the first t.py::b", ("t.py::a",), 0.5)
BARE = Trial("FAIL_TEST", "assertion")


@pytest.fixture
def good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tried:
    monkeypatch.chdir(tmp_path)
    pack = SmallPack()
    pack.task("one", more={"t.py": TEST}, grade=["pytest", "t.py"])
    pack.save()
    task = read_pack(PACK, "pack").tasks[0]
    return Tried(task, BARE, (PASSED,) * 3, BARE, ("t.py::a", "t.py::b"))


def kinds(tried: Tried) -> list[str]:
    return [finding.kind for finding in findings_of(tried)]


def test_a_task_with_nothing_wrong_has_no_finding(good: Tried) -> None:
    assert findings_of(good) == []


@pytest.mark.parametrize("place", range(3))
def test_a_mixed_result_is_flaky_wherever_it_stands(good: Tried, place: int) -> None:
    runs = [PASSED] * 3
    runs[place] = FAILED
    (finding,) = findings_of(replace(good, reference=tuple(runs)))
    assert finding.kind == "flaky_tests"
    assert finding.found == (
        "the reference passes in 2 of 3 runs; else it is FAIL_TEST assertion (1 failed, the first "
        "t.py::b); t.py::b passes in 2 of 3"
    )


def test_a_command_without_ids_can_be_flaky_too(good: Tried) -> None:
    runs = (replace(PASSED, ids=()), replace(BARE, note="the command ended with 1"))
    (finding,) = findings_of(replace(good, reference=runs, expected=("t.py::a",)))[:1]
    assert finding.found.startswith("the reference passes in 1 of 2 runs; else it is FAIL_TEST")


@pytest.mark.parametrize(
    "other",
    [
        replace(PASSED, ids=("t.py::a", "t.py::b", "t.py::c")),  # a new one is no reason to fail
        Trial("FAIL_TEST", "tampered", "1 expected tests did not pass", ("t.py::a",)),
    ],
)
def test_passing_other_tests_is_a_finding_of_its_own(good: Tried, other: Trial) -> None:
    assert kinds(replace(good, reference=(PASSED, other, PASSED))) == ["ids_differ"]


@pytest.mark.parametrize(("seconds", "due"), [(6.0, []), (6.01, ["slow_grader"])])
def test_the_clock_must_leave_tenfold_reserve(good: Tried, seconds: float, due: list[str]) -> None:
    slowest = replace(PASSED, seconds=seconds)
    assert kinds(replace(good, reference=(PASSED, slowest, PASSED))) == due


def test_a_grader_that_breaks_on_the_starting_tree_is_found(good: Tried) -> None:
    broken = Trial("ERROR", "grader_broken", "the test harness did not start")
    assert kinds(replace(good, start=broken)) == ["grader_broken"]
    assert kinds(replace(good, known_wrong=broken)) == ["grader_broken"]


@pytest.mark.parametrize(("repeats", "share"), [(1, 0.8), (3, 0.512), (20, 0.0115)])
def test_how_likely_a_flaky_test_stays_unseen(repeats: int, share: float) -> None:
    assert unseen_share(repeats) == pytest.approx(share, abs=1e-4)


def test_a_lucky_check_takes_back_no_flaky_test_but_a_slow_grader(good: Tried) -> None:
    before = [
        {"task": "one", "kind": kind, "found": "before", "cure": "mend", "earlier": False}
        for kind in ("flaky_tests", "slow_grader", "ids_differ")
    ]
    now = Finding("one", "ids_differ", "now", "mend")
    found = remembered([now], {"findings": before})
    assert found == [now, Finding("one", "flaky_tests", "before", "mend", earlier=True)]


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_a_line_every_ten_tasks_and_a_terminal_one_live_line() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    for stream in (pipe, terminal):
        progress = Progress(stream, 25)
        for done in range(25):
            progress.say(done, f"t{done}")
        progress.clear()
    assert pipe.getvalue().splitlines() == [
        "pack check: 10 of 25 tasks; t10",
        "pack check: 20 of 25 tasks; t20",
    ]
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().count("\r") == 26


@pytest.mark.parametrize(
    ("trust", "missing", "cure"),
    [
        ("split", "app", "under split app is not where the tests are: "),
        ("split", "numpy", "correct solutions/one/ or the hidden tests"),
        ("in-process", "app", "correct solutions/one/ or the hidden tests"),
    ],
)
def test_tests_that_import_the_candidate_under_split_are_told_of_load(
    good: Tried, trust: str, missing: str, cure: str
) -> None:
    grader = replace(good.task.grader, trust=trust)
    failed = Trial("FAIL_TEST", "import_error", log=f"E  No module named '{missing}'\n")
    tried = replace(good, task=replace(good.task, grader=grader), reference=(failed,))
    (finding,) = findings_of(tried)
    assert finding.kind == "reference_fails"
    assert finding.cure.startswith(cure)
    assert ("frozenbench_candidate.load" in finding.cure) == (cure[:5] == "under")


CASES = """
import unittest
from unittest import TestCase

class Sums(unittest.TestCase):
    def test_one(self): ...
    def helper(self): ...

class Late(unittest.IsolatedAsyncioTestCase):
    async def test_two(self): ...

class Short(TestCase):
    def test_three(self): ...

class Other(dict):
    def test_no_test(self): ...
"""


def test_cases_of_unittest_are_read_whatever_their_names(good: Tried) -> None:
    hidden = {"t.py": File(CASES.encode())}
    grader = replace(frozen(good.task.grader), hidden=hidden, tests=("t.py",))
    assert static_ids(grader) == [
        "t.py::Sums::test_one",
        "t.py::Late::test_two",
        "t.py::Short::test_three",
    ]
