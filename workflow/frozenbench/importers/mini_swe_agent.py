"""mini-swe-agent: `<instance>.traj.json` of `mini-swe-agent-1` and `-1.1`, and bare v1 messages.

Whether an instance is resolved stands beside them: a SWE-bench report (see `swebench`).
`LimitsExceeded` does not say which limit: use is compared with the limits that its config states.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from frozenbench.importers.documents import Document, amount, between, mapping
from frozenbench.importers.model import Part, Row, Unreadable, Use
from frozenbench.importers.trajectories import (
    NO_ENDING,
    agent_of,
    called,
    from_assistant,
    run_of,
    task_of,
)

#: Limit in the config -> axis, in the order in which the harness checks them.
_LIMITS = {"step_limit": "calls", "cost_limit": "cost", "wall_time_limit_seconds": "seconds"}
#: Endings by the agent itself; every other class name is a fault of the harness.
_OWN = {"Submitted", "RepeatedFormatError"}
_BUDGET = {"LimitsExceeded", "TimeExceeded"}


def recognises(document: Document) -> bool:
    """Tell whether this is a trajectory of mini-swe-agent."""
    head = document.head
    if isinstance(head, Mapping):
        return str(head.get("trajectory_format", "")).startswith("mini-swe-agent")
    return _is_messages(document)


def _is_messages(document: Document) -> bool:
    head = document.head
    named = document.path.name.removesuffix(".gz").endswith(".traj.json")
    return (
        named
        and isinstance(head, list)
        and bool(head)
        and all({"role", "content"} <= set(mapping(message)) for message in head)
    )


def read(document: Document) -> Part:
    """Read one trajectory.

    Raises:
        Unreadable: it is none of mini-swe-agent.
    """
    if not recognises(document):
        raise Unreadable("is no trajectory of mini-swe-agent")
    if _is_messages(document):
        calls = from_assistant(document.head)
        agent = agent_of(document, None)
        use = Use(calls=calls, steps=calls)
        row = Row(
            agent,
            task_of(document),
            None,
            use,
            run=run_of(document),
            ending=NO_ENDING,
            file=document.name,
        )
        return Part(rows=(row,), stated={agent: {}})
    return _trajectory(document, document.head)


def _trajectory(document: Document, log: Mapping[str, Any]) -> Part:
    info = mapping(log.get("info"))
    config = mapping(info.get("config"))
    settings, model = mapping(config.get("agent")), mapping(config.get("model"))
    agent = agent_of(document, model.get("model_name"))
    limits = {
        axis: value
        for key, axis in _LIMITS.items()
        if (value := amount(settings.get(key)))  # 0 is "none"
    }
    messages = log.get("messages") or []
    use = _use(mapping(info.get("model_stats")), messages)
    status = info.get("exit_status")
    ending = status if isinstance(status, str) and status else NO_ENDING
    ran_out = _ran_out(ending, use, limits)
    broken = ending not in {NO_ENDING} | _OWN | _BUDGET
    row = Row(
        agent,
        str(log.get("instance_id") or task_of(document)),
        None,
        use,
        run=run_of(document),
        ending=ending,
        ran_out=ran_out,
        inferred=ending == "LimitsExceeded" and ran_out != "unknown",
        error="harness_broken" if broken else None,
        file=document.name,
    )
    return Part(
        rows=(row,),
        stated={agent: _stated(info, model, limits)},
        limits={agent: limits},
    )


def _use(stats: Mapping[str, Any], messages: list[Any]) -> Use:
    steps = from_assistant(messages)
    usages = [
        mapping(mapping(mapping(m.get("extra")).get("response")).get("usage"))
        for m in messages
        if mapping(m).get("role") == "assistant"
    ]
    sums = [_sum(usages, key) for key in ("prompt_tokens", "completion_tokens")]
    known = sums[0] is not None and sums[1] is not None
    times = [mapping(mapping(message).get("extra")).get("timestamp") for message in messages]
    told = [time for time in times if time is not None]
    return Use(
        calls=called(stats, steps),
        steps=steps,
        cost=amount(stats.get("instance_cost")),
        tokens=sum(value for value in sums if value is not None) if known else None,
        tokens_input=sums[0],
        tokens_output=sums[1],
        seconds=between(told[0], told[-1]) if len(told) > 1 else None,
    )


def _sum(usages: list[Mapping[str, Any]], key: str) -> int | None:
    """Return a sum over all calls, None where any does not tell."""
    values = [usage.get(key) for usage in usages]
    counts = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
    return sum(counts) if values and len(counts) == len(values) else None


def _ran_out(ending: str, use: Use, limits: Mapping[str, Decimal]) -> str | None:
    if ending == "TimeExceeded":
        return "seconds"
    if ending != "LimitsExceeded":
        return None
    for axis in ("calls", "cost"):
        value = use.on(axis)
        if axis in limits and value is not None and value >= limits[axis]:
            return axis
    return "unknown"


def _stated(
    info: Mapping[str, Any], model: Mapping[str, Any], limits: Mapping[str, Decimal]
) -> dict[str, str]:
    from frozenbench.importers.model import CAP_CONTROLS

    found = {CAP_CONTROLS[axis]: str(value) for axis, value in limits.items()}
    if info.get("mini_version"):
        found["harness version"] = f"mini-swe-agent {info['mini_version']}"
    if model.get("model_name"):
        found["model name"] = str(model["model_name"])
    arguments = mapping(model.get("model_kwargs"))
    for key in ("temperature", "seed"):
        if arguments.get(key) is not None:
            found[key] = str(arguments[key])
    return found
