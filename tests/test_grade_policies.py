"""The two grading policies over scripted verdicts: which step decides, and what is as of it."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from frozenbench.assume import probe_source
from frozenbench.canonical import File
from frozenbench.grade.evidence import Verdict
from frozenbench.grade.grading import FrozenGrader, Graded, Grading
from frozenbench.grade_cell import Case, Grader, State, grade_every_step, grade_final
from frozenbench.outcomes import ENDINGS

FIXTURE = {"app.py": File(b"start\n")}
GREEN = Verdict(True, expected=3, passed=3)
RED = Verdict(False, failure="assertion", expected=3, passed=1, note="2 failed")
BROKEN = Verdict(False, broken=True, note="the test harness did not start")
#: Per step: what the tree is worth. `ban` holds a banned string.
VERDICTS = {"green": GREEN, "red": RED, "broken": BROKEN}


class Scripted(Grading):
    """A grading whose verdict on an artifact stands in the artifact."""

    def __init__(self, grader: FrozenGrader) -> None:
        super().__init__(grader, Path("environments/e"), "none")
        self.graded: list[str] = []

    def grade(
        self,
        artifact: Mapping[str, File],
        fixture: Mapping[str, File],
        expected: Sequence[str] | None,
    ) -> Graded:
        worth = artifact["app.py"].data.decode().split()[0]
        self.graded.append(worth)
        return Graded(VERDICTS[worth.replace("start", "red")], 0.5, f"log of {worth}")


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules and names of this Python."""
    argv = [sys.executable, "-I", "-c", probe_source()]
    out = tmp_path_factory.mktemp("names") / "names.json"
    out.write_bytes(subprocess.run(argv, capture_output=True, check=True).stdout)
    return out


@dataclass
class Graders:
    """Grades runs whose steps are worth what a test says."""

    names: Path

    def grade(
        self,
        *steps: str,
        ending: str = "cap:tool_calls",
        every_step: bool = True,
        artifact: tuple[str, ...] = (),
        start: str = "start",
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the grade of a run, and which trees the grader was run on."""
        fixture = {"app.py": File(f"{start}\n".encode())}
        material = {
            "must_not_contain": ["ban"],
            "must_not_use": [],
            "grader_trust": "in-process",
            "hidden_folders": [],
        }
        frozen = FrozenGrader("d" * 64, material, {}, None, ())
        grading = Scripted(frozen)
        grader = Grader(frozen, grading, fixture, Path("environments/e"), "none", None)
        states = [State(0, fixture, meters(0), 0.0)]
        for number, worth in enumerate(steps, start=1):
            tree = {"app.py": File(f"{worth} {number}\n".encode())}
            if worth.startswith("made "):
                tree = {"app.py": File(b"green\n"), "made.py": File(b"")}
            states.append(State(number, tree, meters(number), float(number)))
        run = {
            "run_key": "k" * 64,
            "ending": ending,
            "meters": meters(99),
            "artifact_limit": False,
            "measured": {"seconds": 99.0},
        }
        case = Case(grader, run, artifact, self.names)
        look = grade_every_step(grader, states) if every_step else grade_final(grader, states, run)
        return case.result(states, look, every_step), grading.graded


def meters(count: int) -> dict[str, int]:
    return {"tool_calls": count, "tokens": 10 * count}


@pytest.fixture
def graders(names: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graders:
    monkeypatch.chdir(tmp_path)
    return Graders(names)


def decided(grade: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return grade["outcome"], grade["reason"], grade["cap_hit"]


# final


def test_final_grades_the_artifact_alone(graders: Graders) -> None:
    grade, graded = graders.grade("green", "red", ending="finished", every_step=False)
    assert decided(grade) == ("FAIL_TEST", "assertion", None)
    assert (grade["graded_step"], graded) == (2, ["red"])
    assert (grade["meters"], grade["measured"]["seconds"]) == (meters(99), 99.0)
    assert (grade["tests_expected"], grade["tests_passed"]) == (3, 1)


def test_final_is_green_at_a_cap(graders: Graders) -> None:
    grade, _ = graders.grade("red", "green", ending="cap:tokens", every_step=False)
    assert decided(grade) == ("PASS", "green_at_cap", "tokens")


def test_without_a_step_final_grades_the_starting_tree(graders: Graders) -> None:
    """The starting tree is graded in any case: noop's artifact."""
    grade, graded = graders.grade(every_step=False)
    assert (graded, decided(grade)) == (["start"], ("EXHAUSTED", "tool_calls", "tool_calls"))
    grade, _ = graders.grade(every_step=False, start="green")
    assert decided(grade)[0] == "PASS", "which then refuses the score"


@pytest.mark.parametrize("ending", ["crashed", "killed", "endpoint_down", "resource_limit"])
def test_final_needs_no_grader_for_a_run_that_broke_down(graders: Graders, ending: str) -> None:
    grade, graded = graders.grade("green", ending=ending, every_step=False)
    assert (grade["outcome"], graded) == ("ERROR", [])
    assert (grade["tests_expected"], grade["verdicts"]) == (None, [])


def test_a_ban_before_the_artifact_is_told_and_decides_nothing(graders: Graders) -> None:
    grade, _ = graders.grade("ban", "green", ending="finished", every_step=False)
    assert decided(grade) == ("PASS", "finished", None)
    assert grade["banned_ever"] is True
    grade, _ = graders.grade("green", "ban", ending="finished", every_step=False)
    assert decided(grade) == ("FAIL_ASSUME", "banned_string", None)
    assert grade["banned_ever"] is False, "the graded step is not before itself"
    assert grade["finding"]["what"] == "ban"


# every_step


def test_every_step_stops_at_the_first_green_step(graders: Graders) -> None:
    grade, graded = graders.grade("red", "green", "red", "green")
    assert graded == ["start", "red", "green"]
    assert decided(grade) == ("PASS", "finished", None), "no cap was hit as of that step"
    assert (grade["graded_step"], grade["ending"]) == (2, "finished")
    assert (grade["meters"], grade["measured"]["seconds"]) == (meters(2), 2.0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_happens_after_the_green_step_no_longer_matters(graders: Graders, ending: str) -> None:
    grade, _ = graders.grade("green", "ban", ending=ending)
    assert decided(grade) == ("PASS", "finished", None)


def test_a_deleted_file_after_the_green_step_no_longer_matters(graders: Graders) -> None:
    grade, _ = graders.grade("made it", "red", ending="finished", artifact=("made.py",))
    assert decided(grade) == ("PASS", "finished", None)


def test_where_no_step_is_green_all_is_as_of_the_run_s_end(graders: Graders) -> None:
    grade, graded = graders.grade("red", "red", ending="cap:wall_clock")
    assert graded == ["start", "red", "red"]
    assert decided(grade) == ("EXHAUSTED", "wall_clock", "wall_clock")
    assert (grade["meters"], grade["measured"]["seconds"]) == (meters(99), 99.0)
    assert grade["ending"] == "cap:wall_clock"


@pytest.mark.parametrize("ending", ["crashed", "endpoint_down", "killed"])
def test_a_run_that_broke_down_before_it_was_green_is_an_error(
    graders: Graders, ending: str
) -> None:
    grade, _ = graders.grade("red", ending=ending)
    assert grade["outcome"] == "ERROR"


def test_a_banned_step_decides_and_is_not_graded(graders: Graders) -> None:
    grade, graded = graders.grade("red", "ban", "green", ending="finished")
    assert decided(grade) == ("FAIL_ASSUME", "banned_string", None)
    assert (grade["graded_step"], grade["meters"]) == (2, meters(2))
    assert graded == ["start", "red"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_step_whose_grader_broke_makes_the_cell_grader_broken(
    graders: Graders, ending: str
) -> None:
    """Whatever the run's end: else `retry` would buy the run again, or leave the cell as it is."""
    grade, graded = graders.grade("red", "broken", "green", ending=ending)
    assert decided(grade) == ("ERROR", "grader_broken", None)
    assert (grade["graded_step"], graded) == (2, ["start", "red", "broken"])
    assert grade["finding"] is None


def test_a_green_starting_tree_is_found_at_step_0(graders: Graders) -> None:
    grade, graded = graders.grade("red", start="green")
    assert (decided(grade)[0], grade["graded_step"], graded) == ("PASS", 0, ["green"])
    assert grade["meters"] == meters(0)


@pytest.mark.parametrize("steps", [*itertools.product(["red", "green", "ban"], repeat=3)])
def test_both_policies_read_the_same_run(graders: Graders, steps: tuple[str, ...]) -> None:
    """every_step passes wherever final does, unless a ban stood before: an oracle stop."""
    best, _ = graders.grade(*steps, ending="finished")
    final, _ = graders.grade(*steps, ending="finished", every_step=False)
    first = next((worth for worth in steps if worth != "red"), None)
    assert best["outcome"] == {"green": "PASS", "ban": "FAIL_ASSUME", None: "FAIL_TEST"}[first]
    right = {"green": "PASS", "ban": "FAIL_ASSUME", "red": "FAIL_TEST"}[steps[-1]]
    assert final["outcome"] == right
    assert final["banned_ever"] == ("ban" in steps[:-1])


def test_one_verdict_on_a_tree_is_stored_and_used_again(graders: Graders) -> None:
    first, graded = graders.grade("red", "green")
    again, graded_again = graders.grade("red", "green")
    assert (graded, graded_again) == (["start", "red", "green"], [])
    assert again == first
    _, broken = graders.grade("broken")
    _, broken_again = graders.grade("broken")
    assert broken == broken_again == ["broken"], "a broken grader's is not kept"
