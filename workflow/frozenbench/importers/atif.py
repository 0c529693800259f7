"""ATIF trajectories (`schema_version: ATIF-v1.x`): use without an outcome or an ending."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from frozenbench.importers.documents import Document, amount, mapping, whole
from frozenbench.importers.model import Unreadable, Use
from frozenbench.importers.uses import Uses

_COUNTS = ("calls", "steps", "tokens", "tokens_input", "tokens_output", "tokens_cached")
#: A trajectory within a trajectory within …: no producer nests deeper.
_DEEPEST = 8


def is_trajectory(value: Any) -> bool:
    """Tell whether a JSON value is a trajectory."""
    return isinstance(value, Mapping) and str(value.get("schema_version", "")).startswith("ATIF-")


def is_continuation(value: Mapping[str, Any]) -> bool:
    """Tell whether it is a later part of a trajectory whose first part is another file."""
    return bool(whole(_extra(value).get("continuation_index")))


def is_subagent(value: Mapping[str, Any]) -> bool:
    """Tell whether it is of a helper, such as one that summarises, of another trajectory."""
    return _extra(value).get("parent_session_id") is not None


def _extra(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(value.get("agent")).get("extra"))


def whole_use(document: Document, value: Mapping[str, Any], uses: Uses) -> tuple[Use, list[str]]:
    """Return the use of a trajectory with all parts that follow it, and the parts that are gone.

    The totals of two files are separate, so they are summed; where a part is gone, none is told.
    """
    parts, seen = [value], {document.path.name}
    while reference := parts[-1].get("continued_trajectory_ref"):
        path = _part(document.path, str(reference))
        if path is None or path.name in seen:
            return Use(), [str(reference)]
        seen.add(path.name)
        try:
            parts.append(mapping(Document(path, path.name).json))
        except Unreadable:
            return Use(), [str(reference)]
    return total([_use(part, uses) for part in parts]), []


def _part(path: Path, reference: str) -> Path | None:
    """Return the file of a later part: the one named, or the one that ends in that name."""
    exact = path.parent / Path(reference).name
    if exact.is_file():
        return exact
    stem = path.name.removesuffix("trajectory.json")
    prefixed = path.parent / f"{stem}{Path(reference).name}"
    return prefixed if prefixed.is_file() else None


def _use(value: Mapping[str, Any], uses: Uses) -> Use:
    totals = mapping(value.get("final_metrics"))
    new = [step for step in _steps(value) if not step.get("is_copied_context")]
    own = [step for step in new if step.get("source") == "agent"]
    keys = [f"total_{kind}_tokens" for kind in ("prompt", "completion", "cached")]
    sent, received, cached = (uses.whole(key, totals.get(key)) for key in keys)
    if sent is None and received is None:
        sent, received = (_summed(own, f"{kind}_tokens", uses) for kind in ("prompt", "completion"))
    times = [step["timestamp"] for step in new if step.get("timestamp")]
    return Use(
        calls=_calls(value, uses),
        steps=sum(
            len(step["tool_calls"]) for step in own if isinstance(step.get("tool_calls"), list)
        ),
        tokens=uses.sum("tokens", sent, received),
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=cached,
        cost=uses.amount("total_cost_usd", totals.get("total_cost_usd")),
        seconds=uses.between("timestamp", times[0], times[-1]) if len(times) > 1 else None,
    )


def _steps(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = value.get("steps")
    return [mapping(step) for step in steps] if isinstance(steps, list) else []


def _calls(value: Mapping[str, Any], uses: Uses, depth: int = 0) -> int | None:
    """Return the model calls of the agent's steps, those of subagents that are embedded included.

    From version 1.7 on a step can say of how many calls it is: 0 where no model was asked.
    """
    counts: list[int | None] = []
    for step in _steps(value):
        if step.get("source") == "agent" and not step.get("is_copied_context"):
            told = step.get("llm_call_count")
            counts.append(1 if told is None else uses.whole("llm_call_count", told))
    helpers = value.get("subagent_trajectories")
    if depth < _DEEPEST and isinstance(helpers, list):
        counts += [_calls(mapping(helper), uses, depth + 1) for helper in helpers]
    return uses.sum("calls", *counts)


def _summed(steps: list[Mapping[str, Any]], key: str, uses: Uses) -> int | None:
    """Return a sum over all steps that asked a model, None where any does not tell."""
    asked = [step for step in steps if whole(step.get("llm_call_count")) != 0]
    values = [uses.whole(key, mapping(step.get("metrics")).get(key)) for step in asked]
    return uses.sum(key, *values) if values else None


def total(uses: list[Use]) -> Use:
    """Return the sum of uses; what one of them does not tell, the sum does not."""
    if len(uses) == 1:
        return uses[0]

    def summed(name: str) -> Any:
        values = [getattr(use, name) for use in uses]
        return None if not values or any(value is None for value in values) else sum(values)

    counts = {name: whole(summed(name)) for name in _COUNTS}
    return Use(**counts, cost=amount(summed("cost")), seconds=amount(summed("seconds")))
