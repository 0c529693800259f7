"""The box that a grader gets: clean, without network, with the harness read-only beside the tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from frozenbench.sandbox import Box, Limits, Mount

INSIDE = Path(__file__).parent.parent / "inside"
HARNESS = "/opt/frozenbench"


def grading_box(
    work: Path, environment: Path, isolation: str, seconds: float | None, *mounts: Mount
) -> Box:
    """Return the box of a grader whose clock is `seconds`; None: the caller keeps the clock."""
    return Box(
        level=isolation,
        work=work,
        mounts=(Mount(INSIDE, HARNESS), *mounts),
        environment=environment,
        limits=Limits(seconds=seconds),
        variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


def with_variable(box: Box, name: str, target: str) -> Box:
    """Return the box with a variable that names where the process sees `target`."""
    return replace(box, variables={**box.variables, name: box.seen(target)})
