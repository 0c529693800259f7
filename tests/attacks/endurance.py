"""One resource attack in one kind of box: when the verdict is there, and what is left."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from attack_task import IN_PROCESS, SPLIT, agents_box, arena
from exhaustion import LIMIT_SECONDS, Exhaustion
from frozenbench.sandbox import base_folder, run, take_tree, work_folder
from host_state import Left, new_mark, watched

AGENT = "agent"
PLACES = (AGENT, IN_PROCESS, SPLIT)


@dataclass(frozen=True)
class Endured:
    """What a resource attack came to."""

    exhaustion: Exhaustion
    place: str
    seconds: float  # from its start to the verdict, the removal of what it wrote included
    word: str
    left: Left
    green: bool


def endured(exhaustion: Exhaustion, place: str, environment: Path) -> Endured:
    """Let it loose in an agent's box, or as an artifact that is graded."""
    mark = new_mark()
    green = False
    before = _work_folders()
    with watched(environment, mark) as left:
        if place == AGENT:
            begun = time.monotonic()
            with work_folder() as work:
                box = agents_box(work, environment, LIMIT_SECONDS)
                ended = run(box, [box.python, "-c", exhaustion.source(mark)])
                take_tree(work)
            word = ended.resource_limit or ("clock" if ended.timed_out else "ended by itself")
        else:
            with arena(place, environment, seconds=LIMIT_SECONDS) as grader:
                begun = time.monotonic()
                verdict = grader.grade(exhaustion.tree(mark)).verdict
            word, green = str(verdict.failure), verdict.green or verdict.broken
        seconds = time.monotonic() - begun
    left.files += sorted(_work_folders() - before)
    return Endured(exhaustion, place, seconds, word, left, green)


def _work_folders() -> set[str]:
    """Return the work folders of this process that are there."""
    work = base_folder() / "work"
    return {path.name for path in work.glob(f"{os.getpid()}-*")} if work.is_dir() else set()
