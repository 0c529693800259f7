"""What takes all there is of something ends in time, leaves no process and leaves the host alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from attack_task import IN_PROCESS, SPLIT
from endurance import AGENT, PLACES, endured
from exhaustion import EXHAUSTIONS, GRACE_SECONDS, LIMIT_SECONDS, Exhaustion

BY_NAME = {exhaustion.name: exhaustion for exhaustion in EXHAUSTIONS}


def check(exhaustion: Exhaustion, place: str, environment: Path) -> None:
    result = endured(exhaustion, place, environment)
    assert result.left.nothing, result.left
    assert not result.green, result.word
    assert result.seconds < LIMIT_SECONDS + GRACE_SECONDS


@pytest.mark.slow
@pytest.mark.usefixtures("once_as_ordinary_user")
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("fork_bomb", AGENT),
        ("disk_fill", AGENT),
        ("memory_bomb", IN_PROCESS),
        ("sleeping_daemon", SPLIT),
    ],
)
def test_one_resource_attack_of_each_kind(name: str, place: str, environment: Path) -> None:
    check(BY_NAME[name], place, environment)


@pytest.mark.attacks
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("exhaustion", EXHAUSTIONS, ids=lambda exhaustion: exhaustion.name)
def test_every_resource_attack(exhaustion: Exhaustion, place: str, environment: Path) -> None:
    check(exhaustion, place, environment)


def test_there_are_enough() -> None:
    assert len(BY_NAME) == len(EXHAUSTIONS) >= 15
