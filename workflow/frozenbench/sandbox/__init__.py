"""The box in which agents and graders run: no network, no host files, nothing that outlives it.

    with work_folder() as work:
        box = Box("userns", work, environment=environment, limits=Limits(seconds=60))
        ended = run(box, [box.python, "-m", "pytest"])

`measure` tells what this machine gives, `require` refuses where that is less than asked for.
"""

from __future__ import annotations

from frozenbench.sandbox.artifact import large_tree_digest, take_tree
from frozenbench.sandbox.box import (
    HOME,
    LEVELS,
    TRUNCATED,
    WORK,
    Box,
    Ended,
    Limits,
    Mount,
)
from frozenbench.sandbox.folders import base_folder, work_folder
from frozenbench.sandbox.launch import REPORT_VARIABLE
from frozenbench.sandbox.measure import (
    Measurement,
    in_force,
    measure,
    missing_group,
    missing_walls,
    oom_kills,
    require,
)
from frozenbench.sandbox.run import Running, run, start
from frozenbench.sandbox.runtime import ENVIRONMENT, RUNTIME
from frozenbench.sandbox.trees import remove_tree

__all__ = [
    "ENVIRONMENT",
    "HOME",
    "LEVELS",
    "REPORT_VARIABLE",
    "RUNTIME",
    "TRUNCATED",
    "WORK",
    "Box",
    "Ended",
    "Limits",
    "Measurement",
    "Mount",
    "Running",
    "base_folder",
    "in_force",
    "large_tree_digest",
    "measure",
    "missing_group",
    "missing_walls",
    "oom_kills",
    "remove_tree",
    "require",
    "run",
    "start",
    "take_tree",
    "work_folder",
]
