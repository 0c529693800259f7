"""mini-swe-agent: `<instance>.traj.json` of `mini-swe-agent-1` and `-1.1`, and bare v1 messages.

Whether an instance is resolved stands beside them: a SWE-bench report (see `swebench`).
`LimitsExceeded` does not say which limit: use is compared with the limits that its config states.
"""

from __future__ import annotations

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
from frozenbench.importers.uses import Uses, written

#: Limit in the config -> axis, in the order in which the harness checks them.
_LIMITS = {"step_limit": "calls", "cost_limit": "cost", "wall_time_limit_seconds": "seconds"}
#: Endings by the agent itself; every other class name is a fault of the harness.
_OWN = {"Submitted", "RepeatedFormatError"}
_BUDGET = {"LimitsExceeded", "TimeExceeded"}
#: The settings of what it runs in that make another agent; its image is of the task.
_ENVIRONMENT = ("cwd", "timeout", "interpreter", "env")


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
        return Part(rows=(row,), stated={agent: {}}, facts={agent: {HARNESS: "mini-swe-agent"}})
    return _trajectory(document, document.head)


def _trajectory(document: Document, log: Mapping[str, Any]) -> Part:
    info = mapping(log.get("info"))
    config = mapping(info.get("config"))
    settings, model = mapping(config.get("agent")), mapping(config.get("model"))
    agent = agent_of(document, model.get("model_name"))
    uses = Uses(document.name)
    limits = limits_of(uses, settings, _LIMITS)
    messages = log.get("messages")
    if messages is not None and not isinstance(messages, list):
        raise Unreadable(f"messages: {written(messages)} is no list of messages")
    use = _use(uses, mapping(info.get("model_stats")), messages)
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
    harness = " ".join(filter(None, ("mini-swe-agent", str(info.get("mini_version") or ""))))
    return Part(
        rows=(row,),
        stated={agent: _stated(info, model, limits)},
        limits={agent: limits},
        remarks=tuple(uses.remarks),
        facts={agent: {HARNESS: harness, **_settings(config)}},
    )


def _use(uses: Uses, stats: Mapping[str, Any], messages: list[Any] | None) -> Use:
    held = [mapping(message) for message in messages or ()]
    replies = [message for message in held if message.get("role") == "assistant"]
    extras = [mapping(message.get("extra")) for message in replies]
    usages = [mapping(mapping(extra.get("response")).get("usage")) for extra in extras]
    sent, received = (_sum(uses, usages, key) for key in ("prompt_tokens", "completion_tokens"))
    steps = len(replies)
    return Use(
        calls=called(uses, stats, steps),
        steps=None if messages is None else steps,
        cost=uses.amount("instance_cost", stats.get("instance_cost")),
        tokens=uses.sum("tokens", sent, received),
        tokens_input=sent,
        tokens_output=received,
        seconds=_seconds(held, uses),
    )


def _seconds(messages: list[Mapping[str, Any]], uses: Uses) -> Decimal | None:
    """Return the seconds from the first message with a time to the last."""
    times = [mapping(message.get("extra")).get("timestamp") for message in messages]
    told = [time for time in times if time is not None]
    return uses.between("timestamp", told[0], told[-1]) if len(told) > 1 else None


def _sum(uses: Uses, usages: list[Mapping[str, Any]], key: str) -> int | None:
    """Return a sum over all calls, None where any does not tell."""
    values = [uses.whole(key, usage.get(key)) for usage in usages]
    return uses.sum(key, *values) if values else None


def _ran_out(ending: str, use: Use, limits: Mapping[str, Decimal]) -> str | None:
    if ending == "TimeExceeded":
        return "seconds"
    if ending != "LimitsExceeded":
        return None
    return reached(use, limits, ("calls", "cost"), exceeds=False)


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what a config says that can make another agent."""
    around = mapping(config.get("environment"))
    model = {k: v for k, v in mapping(config.get("model")).items() if k != "model_name"}
    kept = {
        "agent": config.get("agent"),
        "model": model,
        "environment": {key: around[key] for key in _ENVIRONMENT if key in around},
        **{key: config[key] for key in config if key.endswith("_type")},
    }
    return settings_of(kept, NAMED)


def _stated(
    info: Mapping[str, Any], model: Mapping[str, Any], limits: Mapping[str, Decimal]
) -> dict[str, str]:
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
