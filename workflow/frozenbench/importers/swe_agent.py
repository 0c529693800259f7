"""SWE-agent: `<instance>.traj` ({trajectory, history, info, environment, replay_config}).

Whether an instance is resolved stands beside them: a SWE-bench report (see `swebench`).
`submitted (exit_cost)`: cut off by the cost limit, and its patch was graded all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, added, amount, mapping, whole
from frozenbench.importers.model import CAP_CONTROLS, Part, Row, Unreadable, Use
from frozenbench.importers.trajectories import (
    NO_ENDING,
    agent_of,
    called,
    from_assistant,
    run_of,
    task_of,
)

#: Ending -> what ran out.
_BUDGET = {
    "exit_cost": "cost",
    "exit_context": "context",
    "exit_total_execution_time": "seconds",
}
#: Endings in which the harness broke, unless a patch was submitted and graded all the same.
_BROKEN = {"exit_error", "exit_environment_error", "exit_api"}
_OWN = {"submitted", "exit_format", "exit_forfeit", "exit_command", "exit_command_timeout"}
_LIMITS = {"per_instance_cost_limit": "cost", "per_instance_call_limit": "calls"}


def recognises(document: Document) -> bool:
    """Tell whether this is a trajectory of SWE-agent."""
    head = document.head
    if not isinstance(head, Mapping) or document.suffix != ".traj":
        return False
    return isinstance(head.get("trajectory"), list) or isinstance(head.get("history"), list)


def read(document: Document) -> Part:
    """Read one trajectory.

    Raises:
        Unreadable: it is none of SWE-agent.
    """
    log = document.head
    if not recognises(document):
        raise Unreadable("is no trajectory of SWE-agent")
    replay = log.get("replay_config")
    settings = mapping(mapping(_parsed(replay)).get("agent"))
    model = mapping(settings.get("model"))
    agent = agent_of(document, model.get("name"))
    limits = {axis: v for key, axis in _LIMITS.items() if (v := amount(model.get(key)))}
    row = _row(document, log, agent)
    stated = {CAP_CONTROLS[axis]: str(value) for axis, value in limits.items()}
    if model.get("name"):
        stated["model name"] = str(model["name"])
    if model.get("temperature") is not None:
        stated["temperature"] = str(model["temperature"])
    return Part(rows=(row,), stated={agent: stated}, limits={agent: limits})


def _parsed(value: Any) -> Any:
    """Return a replay config, which older versions write as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_float=Decimal)
    except ValueError:
        return None


def _row(document: Document, log: Mapping[str, Any], agent: str) -> Row:
    info, steps = mapping(log.get("info")), log.get("trajectory")
    stats = mapping(info.get("model_stats"))
    count = len(steps) if isinstance(steps, list) else from_assistant(log.get("history") or [])
    sent, received = whole(stats.get("tokens_sent")), whole(stats.get("tokens_received"))
    status = info.get("exit_status")
    ending = status if isinstance(status, str) and status else NO_ENDING
    inner, submitted = _unwrapped(ending)
    return Row(
        agent,
        task_of(document),
        None,
        Use(
            calls=called(stats, count),
            steps=count,
            tokens=None if sent is None or received is None else added(sent, received),
            tokens_input=sent,
            tokens_output=received,
            # Not `total_cost`, which older files sum up over a whole batch.
            cost=amount(stats.get("instance_cost")),
        ),
        run=run_of(document),
        ending=ending if ending == NO_ENDING or known(ending) else f"unknown: {ending}",
        ran_out=_BUDGET.get(inner),
        error="harness_broken" if inner in _BROKEN and not submitted else None,
        file=document.name,
    )


def _unwrapped(ending: str) -> tuple[str, bool]:
    """Return (the ending itself, whether its patch was submitted): `submitted (exit_cost)`."""
    found = re.fullmatch(r"submitted \((\w+)\)", ending)
    return (found.group(1), True) if found else (ending, ending == "submitted")


def known(ending: str) -> bool:
    """Tell whether the format's documentation knows an ending."""
    inner, _ = _unwrapped(ending)
    return inner in {*_BUDGET, *_BROKEN, *_OWN}
