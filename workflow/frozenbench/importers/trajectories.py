"""What mini-swe-agent's and SWE-agent's trajectories have in common."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from frozenbench.importers.caps import plain
from frozenbench.importers.documents import Document, amount, mapping
from frozenbench.importers.model import Use
from frozenbench.importers.uses import Uses

#: The ending of a trajectory that tells none.
NO_ENDING = "unknown: the log tells none"
#: How deep settings are told one by one; what lies deeper counts as one of them.
_DEEP = 3
#: Settings of a place, of a task, of a key or of chance, that make no other agent.
_NO_SETTING = re.compile(
    r"(^|\.)(seed|output_path|image|outputs|replay_path|api_key|api_base|api_version|base_url"
    r"|choose_api_key_by_thread|retry|delay|env_var_path)(\.|$)"
)


def task_of(document: Document) -> str:
    """Return the instance that a trajectory is of: the stem of its file."""
    return document.stem


def agent_of(document: Document, model: Any) -> str:
    """Return the agent: its model's name where the log has it, else the run's folder."""
    if isinstance(model, str) and model:
        return model
    folders = [part for part in document.place.parent.parts if part not in ("/", "trajs")]
    names = [name for name in reversed(folders) if name != document.stem]
    return names[0] if names else document.stem


def run_of(document: Document) -> str:
    """Return the run's folder: many trajectories lie in a folder of their instance's name.

    In a published submission they lie in `trajs`, in the run's folder.
    """
    folder = document.place.parent
    for name in (document.stem, "trajs"):
        if folder.name == name:
            folder = folder.parent
    return document.shown(folder)


def from_assistant(messages: Sequence[Any]) -> int:
    """Return how many messages the model wrote."""
    return sum(mapping(message).get("role") == "assistant" for message in messages)


def called(uses: Uses, stats: Mapping[str, Any], steps: int) -> int | None:
    """Return the model calls; 0 beside steps is a replay or a log that does not count them."""
    calls = uses.whole("api_calls", stats.get("api_calls"))
    return None if calls == 0 and steps > 0 else calls


def limits_of(
    uses: Uses, settings: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Decimal]:
    """Return axis -> the limit that a config states; 0 is "none"."""
    return {
        axis: value for key, axis in names.items() if (value := uses.amount(key, settings.get(key)))
    }


def reached(use: Use, limits: Mapping[str, Decimal], order: Sequence[str], exceeds: bool) -> str:
    """Return the axis whose stated limit ended a run, `unknown` where its use tells none.

    Args:
        use: what the run used.
        limits: axis -> the stated limit.
        order: in which the harness looks at its limits: the first that holds ended the run.
        exceeds: whether it stops above a limit; else it stops at it. A limit that is only met
            counts where none is exceeded.
    """
    over = [
        (used - limits[axis], axis)
        for axis in order
        if axis in limits and (used := use.on(axis)) is not None and used >= limits[axis]
    ]
    above = [axis for more, axis in over if more > 0] if exceeds else []
    return next(iter([*above, *(axis for _, axis in over)]), "unknown")


def settings_of(config: Any, named: Sequence[str]) -> dict[str, str]:
    """Return setting -> its value, for everything in a config that can make another agent.

    A long value stands as its digest. A setting of `named` is called by its own name alone, and
    its number is written plainly, so that 3 and 3.0 are one.
    """
    found = {}
    for path, value in _leaves(mapping(config), "", 1):
        name = path.rpartition(".")[2]
        if _NO_SETTING.search(path):
            continue
        if name in named:
            found[name] = _number(value)
        elif value not in (None, "", [], {}):
            found[path] = _coded(value)
    return found


def _number(value: Any) -> str:
    number = amount(value)
    return _coded(value) if number is None else plain(number)


def _leaves(value: Mapping[str, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        path = f"{before}.{key}" if before else str(key)
        if isinstance(inner, Mapping) and inner and depth < _DEEP:
            yield from _leaves(inner, path, depth + 1)
        else:
            yield path, inner


def _coded(value: Any) -> str:
    """Return a value as a digest: of a place on a machine, its last name counts alone."""
    text = json.dumps(_placeless(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _placeless(value: Any) -> Any:
    if isinstance(value, str) and re.fullmatch(r"/\S*", value):
        return PurePosixPath(value).name
    if isinstance(value, Mapping):
        return {str(key): _placeless(inner) for key, inner in value.items()}
    return [_placeless(inner) for inner in value] if isinstance(value, list) else value
