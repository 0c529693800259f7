"""No artifact that does not solve its task is called PASS, but for those that are named."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from attack_table import (
    ARTIFACTS,
    ATTACKS,
    FOOLED_IN_PROCESS,
    KINDS,
    MADE_FOR,
    ONE_OF_EACH_KIND,
    Attack,
)
from attack_task import EXIT_STATUS, IN_PROCESS, LEVELS, RIGHT, SPLIT, WRONG, arena, file_of
from attempt import attempt


def check(attack: Attack, trust: str, environment: Path) -> None:
    result = attempt(attack, trust, environment)
    assert result.left.nothing, result.left
    assert not result.broken, result.graded[0].log
    if MADE_FOR.get(attack.name, sys.version_info[:2]) != sys.version_info[:2]:
        assert trust != SPLIT or not result.called_pass, result.graded[-1].log
    elif trust != EXIT_STATUS:
        fooled = trust == IN_PROCESS and attack.name in FOOLED_IN_PROCESS
        assert result.called_pass == fooled, result.graded[-1].log


@pytest.mark.slow
@pytest.mark.usefixtures("once_as_ordinary_user")
@pytest.mark.parametrize("trust", [SPLIT, IN_PROCESS])
@pytest.mark.parametrize("attack", ONE_OF_EACH_KIND, ids=lambda attack: attack.name)
def test_one_attack_of_each_kind(attack: Attack, trust: str, environment: Path) -> None:
    check(attack, trust, environment)


@pytest.mark.attacks
@pytest.mark.parametrize("trust", LEVELS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_every_attack(attack: Attack, trust: str, environment: Path) -> None:
    check(attack, trust, environment)


@pytest.mark.slow
@pytest.mark.usefixtures("once_as_ordinary_user")
@pytest.mark.parametrize("trust", LEVELS)
def test_the_graders_tell_right_from_wrong(trust: str, environment: Path) -> None:
    """What the attacks are measured by: the task can be solved, and its start is no solution."""
    with arena(trust, environment, types=True) as grader:
        assert grader.grade({"solution.py": file_of(RIGHT)}).verdict.green
        assert not grader.grade({"solution.py": file_of(WRONG)}).verdict.green
        assert not grader.grade({}).verdict.green


LOOSE = """
import pytest

{imports}


def test_it():
    assert solution.shout("go on").startswith("GO")
"""
OWN_WORD = """
class Yes:
    def __getattr__(self, name):
        return lambda *a: True
def shout(text):
    return Yes()
"""


@pytest.mark.slow
@pytest.mark.usefixtures("once_as_ordinary_user")
@pytest.mark.parametrize("trust", [SPLIT, IN_PROCESS])
def test_what_remains_possible_where_tests_take_the_candidates_word(
    trust: str, environment: Path
) -> None:
    """Named in docs/attacks.md: once this fails, take it out there."""
    with arena(trust, environment, tests=LOOSE) as grader:
        assert grader.grade({"solution.py": file_of(RIGHT)}).verdict.green
        assert not grader.grade({"solution.py": file_of(WRONG)}).verdict.green
        assert grader.grade({"solution.py": file_of(OWN_WORD)}).verdict.green


def test_every_artifact_stands_in_the_table_once() -> None:
    names = [attack.name for attack in ATTACKS]
    assert sorted(names) == sorted(path.stem for path in ARTIFACTS.iterdir() if path.is_file())
    assert len(ATTACKS) >= 40
    assert {attack.kind for attack in ATTACKS} == set(KINDS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_every_artifact_says_what_it_tries_and_can_run(attack: Attack) -> None:
    assert attack.tries
    assert "\n" not in attack.tries
    for path, file in attack.files("mark").items():
        # One that does not parse would fail for that reason alone.
        if path.endswith(".py"):
            ast.parse(file.data)
    for code in (attack.script("mark"), attack.next("mark")):
        ast.parse(code if isinstance(code, str) else code["solution.py"].data if code else "")


def test_what_fools_in_process_is_little_and_has_its_reason() -> None:
    assert len(FOOLED_IN_PROCESS) <= 7
    assert set(FOOLED_IN_PROCESS) <= {attack.name for attack in ATTACKS}
    assert all(FOOLED_IN_PROCESS.values())
