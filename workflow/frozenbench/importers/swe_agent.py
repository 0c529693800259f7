"""SWE-agent: `<instance>.traj` ({trajectory, history, info, environment, replay_config}).

Whether an instance is resolved stands beside them: a SWE-bench report (see `swebench`).
`submitted (exit_cost)`: cut off by a limit, and its patch was graded all the same. `exit_cost` is
its word for the limit on cost and for that on calls: use is compared with the limits that its
config states.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.agents import HARNESS, NAMED
from frozenbench.importers.documents import Document, mapping
from frozenbench.importers.model import CAP_CONTROLS, Part, Row, Unreadable, Use
from frozenbench.importers.trajectories import (
    NO_ENDING,
    agent_of,
    called,
    from_assistant,
    limits_of,
    reached,
    run_of,
    settings_of,
    task_of,
)
from frozenbench.importers.uses import Uses

#: The ending that stands for two limits.
_COST_OR_CALLS = "exit_cost"
#: Ending -> what ran out.
_BUDGET = {"exit_context": "context", "exit_total_execution_time": "seconds"}
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
    settings = mapping(mapping(_replayed(document, log)).get("agent"))
    model = mapping(settings.get("model"))
    agent = agent_of(document, model.get("name") or _models(settings))
    uses = Uses(document.name)
    limits = limits_of(uses, model, _LIMITS)
    row = _row(document, log, agent, uses, limits)
    harness = _harness(mapping(log.get("info")))
    return Part(
        rows=(row,),
        stated={agent: _stated(harness, model, limits)},
        limits={agent: limits},
        remarks=tuple(uses.remarks),
        facts={agent: {HARNESS: harness, **_settings(settings)}},
    )


def _models(settings: Mapping[str, Any]) -> str:
    """Return the models of an agent that tries several configurations in turn."""
    held = settings.get("agent_configs")
    several = held if isinstance(held, list) else ()
    models = [mapping(mapping(one).get("model")).get("name") for one in several]
    return " + ".join(dict.fromkeys(name for name in models if isinstance(name, str)))


def _replayed(document: Document, log: Mapping[str, Any]) -> Any:
    """Return a replay config, which older versions write as text."""
    value = log.get("replay_config")
    if not isinstance(value, str):
        return value
    try:
        return document.inner(value, "replay_config")
    except Unreadable:
        return None


def _row(
    document: Document,
    log: Mapping[str, Any],
    agent: str,
    uses: Uses,
    limits: Mapping[str, Decimal],
) -> Row:
    info, steps = mapping(log.get("info")), log.get("trajectory")
    count = len(steps) if isinstance(steps, list) else from_assistant(log.get("history") or [])
    use = _use(uses, mapping(info.get("model_stats")), count)
    status = info.get("exit_status")
    ending = status if isinstance(status, str) and status else NO_ENDING
    inner, submitted = _unwrapped(ending)
    ran_out = _BUDGET.get(inner)
    if inner == _COST_OR_CALLS:
        ran_out = reached(use, limits, ("cost", "calls"), exceeds=True)
    return Row(
        agent,
        task_of(document),
        None,
        use,
        run=run_of(document),
        ending=ending if ending == NO_ENDING or known(ending) else f"unknown: {ending}",
        ran_out=ran_out,
        inferred=inner == _COST_OR_CALLS and ran_out != "unknown",
        error="harness_broken" if inner in _BROKEN and not submitted else None,
        file=document.name,
    )


def _use(uses: Uses, stats: Mapping[str, Any], count: int) -> Use:
    sent, received = (uses.whole(key, stats.get(key)) for key in ("tokens_sent", "tokens_received"))
    return Use(
        calls=called(uses, stats, count),
        steps=count,
        tokens=uses.sum("tokens", sent, received),
        tokens_input=sent,
        tokens_output=received,
        # Not `total_cost`, which older files sum up over a whole batch.
        cost=uses.amount("instance_cost", stats.get("instance_cost")),
    )


def _harness(info: Mapping[str, Any]) -> str:
    version = info.get("swe_agent_version")
    return f"SWE-agent {version}" if version else "SWE-agent"


def _settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what a config says that can make another agent; its `name` is the instance's."""
    model = {k: v for k, v in mapping(settings.get("model")).items() if k != "name"}
    return settings_of({**settings, "name": None, "model": model}, NAMED)


def _stated(
    harness: str, model: Mapping[str, Any], limits: Mapping[str, Decimal]
) -> dict[str, str]:
    found = {CAP_CONTROLS[axis]: str(value) for axis, value in limits.items()}
    if " " in harness:
        found["harness version"] = harness
    if model.get("name"):
        found["model name"] = str(model["name"])
    if model.get("temperature") is not None:
        found["temperature"] = str(model["temperature"])
    return found


def _unwrapped(ending: str) -> tuple[str, bool]:
    """Return (the ending itself, whether its patch was submitted): `submitted (exit_cost)`."""
    found = re.fullmatch(r"submitted \((\w+)\)", ending)
    return (found.group(1), True) if found else (ending, ending == "submitted")


def known(ending: str) -> bool:
    """Tell whether the format's documentation knows an ending."""
    inner, _ = _unwrapped(ending)
    return inner in {*_BUDGET, *_BROKEN, *_OWN, _COST_OR_CALLS}
