"""Right solutions with odd habits are called PASS: a wall that stops them would be a false alarm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attack_task import IN_PROCESS, SPLIT, Arena, arena
from odd_solutions import ODD

SHORT = ("own conftest that raises", "thread that ends late", "subprocess for its answers")
SHORT += ("bytes that are no UTF-8", "50 MB of prints", "CRLF")


@pytest.fixture(scope="module", params=[SPLIT, IN_PROCESS])
def grader(request: pytest.FixtureRequest, environment: Path) -> Iterator[Arena]:
    with arena(request.param, environment) as opened:
        yield opened


def check(grader: Arena, name: str) -> None:
    graded = grader.grade(ODD[name])
    assert graded.verdict.green, graded.log


@pytest.mark.slow
@pytest.mark.usefixtures("once_as_ordinary_user")
@pytest.mark.parametrize("name", SHORT)
def test_some_odd_solutions(grader: Arena, name: str) -> None:
    check(grader, name)


@pytest.mark.attacks
@pytest.mark.parametrize("name", ODD)
def test_every_odd_solution(grader: Arena, name: str) -> None:
    check(grader, name)
