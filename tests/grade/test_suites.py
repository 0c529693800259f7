"""Hidden tests of all kinds, and which of their ids are expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from cell_project import HIDDEN, RIGHT, WRONG, CellProject
from frozenbench.build_environment import build_environment
from frozenbench.freeze_expected import read_expected

SUITE = """
import sys
import unittest
import pytest
from app import add

@pytest.mark.parametrize("n", [0, 1, "é", None, 2.5])
def test_many(n):
    assert add(1, 2) == 3

@pytest.mark.skip(reason="not today")
def test_skipped():
    assert False

@pytest.mark.skipif(sys.platform == "none", reason="never")
def test_not_skipped():
    assert add(0, 0) == 0

@pytest.mark.xfail(reason="known")
def test_known_fault():
    assert add(1, 1) == 3

@pytest.mark.xfail(reason="known, and it passes")
def test_passes_all_the_same():
    assert add(1, 2) == 3

class TestClass:
    def test_method(self):
        assert add(2, 2) == 4

class Case(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(add(2, 2), 4)
    def test_sub(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(add(n, 1), n + 1)

def test_output(capsys, capfd):
    print("x")

def test_streams(capsys):
    print("x")
    assert capsys.readouterr().out == "x\\n"
"""


def test_a_suite_of_all_kinds_of_tests(cells: CellProject) -> None:
    suite = SUITE.replace("def test_output(capsys, capfd):", "def test_output(capfd):")
    cells.task(hidden={"tests/test_app.py": suite})
    graded = cells.verdict({"app.py": RIGHT})
    plan = cells.plan()
    ids = read_expected(plan.expected_path(plan.tasks["add"]))
    assert ids is not None
    assert len(ids) == 11
    assert "tests/test_app.py::test_many[2.5]" in ids
    assert not any("skipped" in name and "not" not in name for name in ids)
    assert not any("known" in name or "all_the_same" in name for name in ids)
    assert graded.verdict.green, graded.log
    assert (graded.verdict.expected, graded.verdict.passed) == (11, 11)
    wrong = cells.verdict({}).verdict
    assert (wrong.failure, wrong.expected, wrong.passed) == ("assertion", 11, 3)


def test_without_a_solution_the_ids_come_from_the_source(cells: CellProject) -> None:
    suite = SUITE[: SUITE.index("@pytest.mark.skip(")]
    cells.task(fixture={"app.py": WRONG}, hidden={"tests/test_app.py": suite})
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.expected) == (True, 1)  # test_many[*]
    plan = cells.plan()
    assert read_expected(plan.expected_path(plan.tasks["add"])) == (
        "tests/test_app.py::test_many[*]",
    )
    assert cells.verdict({}).verdict.failure == "assertion"


def test_a_parameter_that_the_artifact_takes_away_is_missed(cells: CellProject) -> None:
    suite = """
import pytest
from app import CASES, add
@pytest.mark.parametrize("case", CASES)
def test_it(case):
    assert add(*case) == sum(case)
"""
    fixture = {"app.py": f"{WRONG}CASES = [(1, 2), (3, 4)]\n"}
    cells.task(
        fixture=fixture,
        hidden={"tests/test_app.py": suite},
        solution={"app.py": f"{RIGHT}CASES = [(1, 2), (3, 4)]\n"},
    )
    assert cells.verdict({"app.py": f"{RIGHT}CASES = [(1, 2), (3, 4)]\n"}).verdict.green
    assert cells.verdict({"app.py": f"{RIGHT}CASES = [(1, 2)]\n"}).verdict.failure == "tampered"
    assert cells.verdict({"app.py": f"{RIGHT}CASES = []\n"}).verdict.failure == "no_tests_ran"


BAD_SUITES = {
    "no test": ("X = 1\n", [], "no_tests_ran"),
    "empty": ("", [], "no_tests_ran"),
    "does not parse": ("def test_x(:\n", [], "import_error"),
    "imports what is not there": ("import none_such\ndef test_x(): pass\n", [], "import_error"),
    "all skipped": ("import pytest\npytestmark = pytest.mark.skip\n" + HIDDEN, [], "no_tests_ran"),
    "none selected": (HIDDEN, ["-k", "nothing"], "no_tests_ran"),
}


@pytest.mark.parametrize("case", BAD_SUITES)
def test_a_suite_that_tests_nothing_passes_nothing(cells: CellProject, case: str) -> None:
    suite, words, failure = BAD_SUITES[case]
    cells.task(hidden={"tests/test_app.py": suite}, grade=["pytest", *words, "tests/test_app.py"])
    found = cells.verdict({"app.py": RIGHT}).verdict
    assert (found.green, found.failure, found.expected) == (False, failure, 0)


def test_a_selection_is_the_whole_suite(cells: CellProject) -> None:
    for words in (["-k", "zero", "tests/test_app.py"], ["tests/test_app.py::test_zero"]):
        cells.task(grade=["python", "-m", "pytest", "-q", *words])
        found = cells.verdict({}).verdict  # right for zero alone
        assert (found.green, found.expected) == (True, 1)


def test_a_command_line_that_pytest_refuses_is_a_broken_grader(cells: CellProject) -> None:
    cells.task(grade=["pytest", "--no-such-option", "tests/test_app.py"])
    graded = cells.verdict({"app.py": RIGHT})
    assert (graded.verdict.green, graded.verdict.broken) == (False, True)
    assert "--no-such-option" in graded.log


def test_an_environment_without_pytest_is_a_broken_grader(
    cells: CellProject, tmp_path: Path
) -> None:
    cells.verdict({})  # the expected ids, while pytest is there
    cells.environment = tmp_path / "empty"
    build_environment(None, cells.environment)
    plan = cells.plan()
    known = tmp_path / "expected" / plan.expected_path(plan.tasks["add"]).name
    known.parent.mkdir()
    known.write_bytes(plan.expected_path(plan.tasks["add"]).read_bytes())
    graded = cells.verdict({"app.py": RIGHT})
    assert (graded.verdict.green, graded.verdict.broken) == (False, True)
    assert "No module named 'pytest'" in graded.log
