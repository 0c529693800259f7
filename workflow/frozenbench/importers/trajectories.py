"""What mini-swe-agent's and SWE-agent's trajectories have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from frozenbench.importers.documents import Document, mapping, whole

#: The ending of a trajectory that tells none.
NO_ENDING = "unknown: the log tells none"


def task_of(document: Document) -> str:
    """Return the instance that a trajectory is of: the stem of its file."""
    return document.stem


def agent_of(document: Document, model: Any) -> str:
    """Return the agent: its model's name where the log has it, else the run's folder."""
    if isinstance(model, str) and model:
        return model
    folders = [part for part in document.path.parent.parts if part not in ("/", "trajs")]
    names = [name for name in reversed(folders) if name != document.stem]
    return names[0] if names else document.stem


def run_of(document: Document) -> str:
    """Return the run's folder: many trajectories lie in a folder of their instance's name."""
    parent = PurePosixPath(document.name).parent
    return (parent.parent if parent.name == document.stem else parent).as_posix()


def from_assistant(messages: Sequence[Any]) -> int:
    """Return how many messages the model wrote."""
    return sum(mapping(message).get("role") == "assistant" for message in messages)


def called(stats: Mapping[str, Any], steps: int) -> int | None:
    """Return the model calls; 0 beside steps is a replay or a log that does not count them."""
    calls = whole(stats.get("api_calls"))
    return None if calls == 0 and steps > 0 else calls
