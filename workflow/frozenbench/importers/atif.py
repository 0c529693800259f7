"""ATIF trajectories (`schema_version: ATIF-v1.x`): use without an outcome or an ending."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from frozenbench.importers.documents import (
    Document,
    added,
    amount,
    between,
    mapping,
    parse,
    whole,
)
from frozenbench.importers.model import Unreadable, Use


def is_trajectory(value: Any) -> bool:
    """Tell whether a JSON value is a trajectory."""
    return isinstance(value, Mapping) and str(value.get("schema_version", "")).startswith("ATIF-")


def is_continuation(value: Mapping[str, Any]) -> bool:
    """Tell whether it is a later part of a trajectory whose first part is another file."""
    extra = mapping(mapping(value.get("agent")).get("extra"))
    return bool(whole(extra.get("continuation_index")))


def whole_use(document: Document, value: Mapping[str, Any]) -> tuple[Use, list[str]]:
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
            parts.append(mapping(parse(path.read_text("utf-8"))))
        except (OSError, UnicodeDecodeError, Unreadable):
            return Use(), [str(reference)]
    return _sum([_use(part) for part in parts]), []


def _part(path: Path, reference: str) -> Path | None:
    """Return the file of a later part: the one named, or the one that ends in that name."""
    exact = path.parent / Path(reference).name
    if exact.is_file():
        return exact
    stem = path.name.removesuffix("trajectory.json")
    prefixed = path.parent / f"{stem}{Path(reference).name}"
    return prefixed if prefixed.is_file() else None


def _use(value: Mapping[str, Any]) -> Use:
    totals = mapping(value.get("final_metrics"))
    own = [
        mapping(step)
        for step in value.get("steps") or ()
        if mapping(step).get("source") == "agent" and not mapping(step).get("is_copied_context")
    ]
    sent, received = (whole(totals.get(f"total_{k}_tokens")) for k in ("prompt", "completion"))
    known = sent is not None and received is not None
    times = [step["timestamp"] for step in own if step.get("timestamp")]
    return Use(
        calls=len(own),
        steps=sum(len(step.get("tool_calls") or ()) for step in own),
        tokens=added(sent, received) if known else None,
        tokens_input=sent,
        tokens_output=received,
        tokens_cached=whole(totals.get("total_cached_tokens")),
        cost=amount(totals.get("total_cost_usd")),
        seconds=between(times[0], times[-1]) if len(times) > 1 else None,
    )


def _sum(uses: list[Use]) -> Use:
    if len(uses) == 1:
        return uses[0]

    def summed(name: str) -> Any:
        values = [getattr(use, name) for use in uses]
        return None if any(value is None for value in values) else sum(values)

    names = ("calls", "steps", "tokens", "tokens_input", "tokens_output", "tokens_cached")
    seconds: Decimal | None = summed("seconds")
    cost: Decimal | None = summed("cost")
    return Use(**{name: summed(name) for name in names}, cost=cost, seconds=seconds)
