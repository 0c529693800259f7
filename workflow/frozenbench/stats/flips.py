"""Ladders, crossings and confirmed flips (PROTOCOL 8), on signs in integers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: The caps that a budget can hold.
CAPS = ("max_tool_calls", "max_edit_rounds", "max_tokens", "max_seconds", "max_cost")

#: Two places on a ladder, the lower budget first.
Step = tuple[int, int]


@dataclass(frozen=True)
class Ladder:
    """Budgets that differ in the axis cap alone.

    Attributes:
        name: the caps that they share, such as `max_seconds=300, max_tokens=20000`.
        budgets: names, the axis cap rising; one without that cap is the largest.
    """

    name: str
    budgets: tuple[str, ...]


def axis_value(caps: Mapping[str, float | None], axis: str) -> float | None:
    """Return a budget's cap on the axis, None where it has none."""
    value = caps.get(axis)
    return None if value is None else float(value)


def ladders(budgets: Mapping[str, Mapping[str, float | None]], axis: str) -> list[Ladder]:
    """Sort budgets (name -> caps) into ladders, in the order of their first budget."""
    groups: dict[tuple[float | None, ...], list[str]] = {}
    others = [cap for cap in CAPS if cap != axis]
    for name, caps in budgets.items():
        groups.setdefault(tuple(axis_value(caps, cap) for cap in others), []).append(name)

    def place(name: str) -> tuple[float, str]:
        value = axis_value(budgets[name], axis)
        return (math.inf if value is None else value, name)

    return [
        Ladder(_ladder_name(others, shared), tuple(sorted(names, key=place)))
        for shared, names in groups.items()
    ]


def _ladder_name(caps: Sequence[str], values: Sequence[float | None]) -> str:
    parts = [
        f"{cap}={int(value) if value == int(value) else value}"
        for cap, value in sorted(zip(caps, values, strict=True))
        if value is not None
    ]
    return ", ".join(parts) or "no other cap"


def crossings(signs: Sequence[int]) -> list[Step]:
    """Return (b, c) for each change of sign along a ladder with only ties between b and c.

    `signs` holds −1, 0 or 1: the sign of Σ s_t under each budget, the axis cap rising.
    """
    apart = [place for place, sign in enumerate(signs) if sign]
    return [(b, c) for b, c in pairwise(apart) if signs[b] != signs[c]]


def confirmed(signs: Sequence[int], rejected: Sequence[bool]) -> list[Step]:
    """Return (b, c), both rejected with opposite signs, with no narrower such pair inside.

    A pair with another rejected contrast inside always holds a narrower pair, whatever that one's
    sign; so these are the neighbours of opposite sign among the rejected contrasts.
    """
    kept = [sign if sure else 0 for sign, sure in zip(signs, rejected, strict=True)]
    return crossings(kept)


def marks(signs: Sequence[int], rejected: Sequence[bool]) -> list[tuple[Step, Step | None]]:
    """Return each crossing with the confirmed pair that is marked there, or None.

    A confirmed flip is marked once, at the last crossing inside its pair; pairs overlap at their
    ends alone, so a crossing marks at most one.
    """
    found = crossings(signs)
    marked: dict[Step, Step] = {}
    for b, c in confirmed(signs, rejected):
        marked[max(step for step in found if b <= step[0] and step[1] <= c)] = (b, c)
    return [(step, marked.get(step)) for step in found]
