"""Budget meters: pure arithmetic on what an agent used and what its caps allow.

PROTOCOL 4: a cap is hit by what would pass it; nothing raises a cap. Unknown use is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from frozenbench.adapters.contract import Use
from frozenbench.outcomes import METERS


@dataclass(frozen=True)
class Meters:
    """What was delivered to the agent so far.

    Attributes:
        tool_calls: delivered proposals; None where the adapter has no proposals to count.
        edit_rounds: how often the tree changed between two steps.
        model_calls: delivered model responses; None for an agent without a model.
        tokens: input + output; None as soon as one response does not report them.
        tokens_undelivered: tokens of withheld responses; None where one is not reported.
    """

    tool_calls: int | None = None
    edit_rounds: int | None = 0
    model_calls: int | None = None
    tokens: int | None = None
    tokens_input: int | None = None
    tokens_output: int | None = None
    tokens_cached: int | None = None
    tokens_undelivered: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        """Return the meters as the tables name them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def start(counted: frozenset[str], model: bool) -> Meters:
    """Return the meters at 0 for what this adapter can count, None for the rest."""
    tokens = 0 if "tokens" in counted else None
    return Meters(
        tool_calls=0 if "tool_calls" in counted else None,
        model_calls=0 if model else None,
        tokens=tokens,
        tokens_input=tokens,
        tokens_output=tokens,
        tokens_cached=tokens,
        tokens_undelivered=tokens,
    )


def ordered(hits: set[str]) -> tuple[str, ...]:
    """Return hit meters in the order that decides between two at the same event."""
    return tuple(meter for meter in METERS if meter in hits)


def before_request(
    meters: Meters, caps: Mapping[str, float], elapsed: float, *, proposals: bool = True
) -> tuple[str, ...]:
    """Return the caps that asking once more would pass.

    With `proposals` what is asked for is a proposal, which is a tool call itself; a model's
    response may hold none, so that an agent at its cap can still say that it is done.
    """
    hits = set(clock_hits(caps, elapsed))
    if proposals and _used_up(meters.tool_calls, caps.get("tool_calls")):
        hits.add("tool_calls")
    if _used_up(meters.tokens, caps.get("tokens")):
        hits.add("tokens")
    return ordered(hits)


def _used_up(used: int | None, cap: float | None) -> bool:
    return used is not None and cap is not None and used >= cap


def on_response(
    meters: Meters, use: Use, caps: Mapping[str, float], elapsed: float, tool_calls: int = 0
) -> tuple[str, ...]:
    """Return the caps that delivering a response would pass: then it is withheld whole.

    `tool_calls` are the tool-call blocks in a model's response; a proposal was counted before.
    """
    hits = set(clock_hits(caps, elapsed))
    most = caps.get("tool_calls")
    if tool_calls and most is not None and (meters.tool_calls or 0) + tool_calls > most:
        hits.add("tool_calls")
    cap = caps.get("tokens")
    if (
        cap is not None
        and meters.tokens is not None
        and use.total is not None
        and meters.tokens + use.total > cap
    ):
        hits.add("tokens")
    return ordered(hits)


def on_change(meters: Meters, caps: Mapping[str, float]) -> tuple[str, ...]:
    """Return the caps that one more change of the tree would pass."""
    return ("edit_rounds",) if _used_up(meters.edit_rounds, caps.get("edit_rounds")) else ()


def clock_hits(caps: Mapping[str, float], elapsed: float) -> tuple[str, ...]:
    """Return the wall clock if it fell."""
    cap = caps.get("wall_clock")
    return ("wall_clock",) if cap is not None and elapsed > cap else ()


def delivered(meters: Meters, use: Use, tool_calls: int | None = 1) -> Meters:
    """Count one delivered proposal or response."""
    return replace(
        meters,
        tool_calls=_plus(meters.tool_calls, tool_calls),
        model_calls=_plus(meters.model_calls, 1),
        tokens=_plus(meters.tokens, use.total),
        tokens_input=_plus(meters.tokens_input, use.input),
        tokens_output=_plus(meters.tokens_output, use.output),
        tokens_cached=_plus(meters.tokens_cached, use.cached),
    )


def withheld(meters: Meters, use: Use) -> Meters:
    """Count one withheld response."""
    return replace(meters, tokens_undelivered=_plus(meters.tokens_undelivered, use.total))


def changed(meters: Meters) -> Meters:
    """Count one edit round."""
    return replace(meters, edit_rounds=_plus(meters.edit_rounds, 1))


def _plus(total: int | None, more: int | None) -> int | None:
    """Add, where both are known: one unknown makes the sum unknown for good."""
    return None if total is None or more is None else total + more
