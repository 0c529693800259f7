"""The words of `budget_curves`: its title, the computed finding, and the note below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from frozenbench.figures import import_box, ranks, rings
from frozenbench.figures.inputs import Inputs, Rung
from frozenbench.figures.leads import LeadSpan
from frozenbench.figures.marks import standing
from frozenbench.figures.outcome_marks import LOG_ENDING
from frozenbench.figures.scale import Scale
from frozenbench.figures.style import FOCUSED, Look

_BUDGETS = {
    "max_tool_calls": "tool-call budget",
    "max_edit_rounds": "edit-round budget",
    "max_tokens": "token budget",
    "max_seconds": "wall-clock budget",
}
#: What a cap on the axis counts.
_UNITS = {
    "max_tool_calls": "tool calls",
    "max_edit_rounds": "edit rounds",
    "max_tokens": "tokens",
    "max_seconds": "seconds",
}
#: As many others that a lead is not resolved from are named.
_NAMED = 3


def title(inputs: Inputs) -> str:
    """Return the neutral title: it names the measure."""
    if inputs.imported:
        return import_box.title(inputs)
    kind = "against" if len(inputs.rungs) > 1 else "under one"
    return f"Pass rate {kind} {_BUDGETS[inputs.axis]}"


def finding(inputs: Inputs, looks: Mapping[str, Look]) -> str:
    """Return the computed finding: who flips, with the rings that show it; below, who leads."""
    flips = flips_found(inputs).removesuffix(".") + _rings(inputs, looks)
    return "\n".join([f"{flips}.", *filter(None, [" ".join(leads_found(inputs))])])


def _rings(inputs: Inputs, looks: Mapping[str, Look]) -> str:
    """Return how many rings are drawn, since a pair can have several, and how many flips have none."""
    ringed, more = rings.ringed_flips(inputs, looks)
    solid = sum(row["kind"] == "confirmed" for row in ringed)
    counts = {"solid": solid, "dotted": len(ringed) - solid}
    shown = [f"{count} {kind}" for kind, count in counts.items() if count]
    if not shown and not more:
        return ""
    drawn = f"rings: {', '.join(shown) or 'none'}"
    return f" ({drawn}; {more} more are in tables/flips.csv)" if more else f" ({drawn})"


def leads_found(inputs: Inputs) -> list[str]:
    """Return who leads under the smallest and the largest budget, and from how many it is resolved."""
    ends = inputs.rungs if len(inputs.rungs) < 3 else (inputs.rungs[0], inputs.rungs[-1])
    return [told for rung in ends if (told := _lead(inputs, rung))]


def _lead(inputs: Inputs, rung: Rung) -> str:
    leaders, others = inputs.leaders(rung), len(inputs.agents) - 1
    if not leaders or not others:
        return ""
    where = _at(inputs, rung)
    if len(leaders) > others:
        return f"{where} all tie."
    if len(leaders) > 2:
        return f"{where} {len(leaders)} agents tie for the lead."
    if len(leaders) == 2:
        return f"{where} {' and '.join(leaders)} tie for the lead."
    [leader] = leaders
    rest = [name for name in inputs.agents if name != leader]
    like = [name for name in rest if (leader, name, rung.name) not in inputs.rejected]
    if others == 1:
        of = "not resolved" if like else "resolved"
    elif len(like) in (0, others):
        of = "not resolved from any other" if like else "resolved from every other"
    elif len(like) <= _NAMED:
        *most, last = like
        of = f"resolved from all but {' and '.join(filter(None, [', '.join(most), last]))}"
    else:
        of = f"resolved from {others - len(like)} of {others} others"
    return f"{where} {leader} leads, {of}."


def _at(inputs: Inputs, rung: Rung) -> str:
    """Return "At 8 tool calls:"."""
    unit = inputs.controls.get("source", "unit") if inputs.imported else _UNITS[inputs.axis]
    if rung.cap is None or unit is None:
        return "As run:" if unit is None else "With no cap:"
    return f"At {rung.label} {unit.removesuffix('s') if rung.cap == 1 else unit}:"


def flips_found(inputs: Inputs) -> str:
    """Return how many pairs of agents flip on the ladder that is drawn, confirmed first."""
    pairs = int(inputs.facts.need("pairs"))
    among = f"{pairs} pair{'' if pairs == 1 else 's'}"
    if not pairs:
        return "One agent: there is no pair to compare."
    if len(inputs.rungs) == 1:
        return f"{inputs.resolved_pairs} of {among} resolved at this budget (one budget: no flips)."
    sure, likely = (
        {(row["agent_a"], row["agent_b"]) for row in inputs.flips if row["kind"] == kind}
        for kind in ("confirmed", "suggestive")
    )
    have = "has" if len(sure) == 1 or pairs == 1 else "have"
    return (
        f"{len(sure)} of {among} {have} a confirmed flip, {len(likely - sure)} "
        f"{'more ' if sure else ''}a suggestive one."
    )


def notes(
    inputs: Inputs, looks: Mapping[str, Look], scale: Scale, spans: list[LeadSpan]
) -> list[str]:
    """Return what the marks mean, sentence by sentence; only of what is drawn."""
    _, more = rings.ringed_flips(inputs, looks)
    found = _tests(inputs, "of coloured agents " if more else "")
    if spans:
        found.append(
            "Tinted: rank 1 flips, between the budgets where the old and the new order are "
            "resolved"
            + (
                "; other changes of the leader are not resolved."
                if _others(inputs, scale, spans)
                else "."
            )
        )
    if ranks.has_gaps(inputs, looks):
        found.append("No bar in c: the interval is that one rank.")
    if len(looks) > 1:
        found.append(_offsets(inputs, looks, scale))
    if len(looks) < len(inputs.agents):
        found.append(
            f"Coloured: {chosen(inputs)}; pale, without bars: the other "
            f"{len(inputs.agents) - len(looks)}, named in c."
        )
        if more:
            found.append("Rings stand at flips of two coloured agents alone.")
    if "no cap" in scale.labels and len(scale.labels) > 1:
        found.append("“no cap” has no place on the scale; it stands at the right end.")
    if inputs.imported:
        found.append(f"EXHAUSTED as well: {LOG_ENDING}.")
    return found


def chosen(inputs: Inputs) -> str:
    """Return by which rule the coloured agents are chosen among more than six."""
    if inputs.view.get("focus"):
        return "chosen by focus"
    leading = {name for rung in inputs.rungs for name in inputs.leaders(rung)}
    order = ", from the largest down" if len(leading) > FOCUSED else ""
    source = "logs" if inputs.imported else "config"
    return f"those that lead under some budget{order}, then the first of the {source}"


def _others(inputs: Inputs, scale: Scale, spans: Sequence[LeadSpan]) -> bool:
    """Return whether who leads changes between two budgets that no span holds."""
    held = [
        (low, high)
        for (low, one), (high, other) in pairwise(
            (place, inputs.leaders(rung))
            for place, rung in zip(scale.places, inputs.rungs, strict=True)
        )
        if one != other
    ]
    return not all(any(s.low <= low and high <= s.high for s in spans) for low, high in held)


def _tests(inputs: Inputs, ringed: str) -> list[str]:
    """Return what makes a flip, and what does not; `ringed` says whose crossings have rings."""
    need = inputs.facts.need
    alpha, resamples, held = need("alpha"), need("resamples"), int(need("contrasts"))
    contrasts = f"{held} contrast{'' if held == 1 else 's'}"
    if not int(need("pairs")):
        return []
    if len(inputs.rungs) > 1:
        found = [
            f"○ confirmed flip: exact paired test under both budgets, Holm over {contrasts}, "
            f"α = {alpha:g}; ◌ suggestive: support (share of {resamples} resamples of tasks in "
            f"which both signs are as observed) ≥ 0.95. Unringed crossings {ringed}are not resolved. "
            "A lead is resolved where that test rejects."
        ]
    else:
        found = [f"Resolved: exact paired test, Holm over {contrasts}, α = {alpha:g}."]
    if need("cannot_confirm"):
        found.append(
            f"This pack cannot confirm a flip: a contrast needs {need('min_discordant')} "
            "discordant tasks, all one way."
        )
    elif need("few_tasks"):
        found.append(
            f"Few tasks for {contrasts}: Holm's first step needs {need('min_discordant')} "
            "discordant ones, all one way."
        )
    found.append("Bars are not that test.")
    if inputs.controls.get("repeats") == 1:
        found.append("One repeat: bars hold the choice of tasks, not a rerun.")
    return found


def _offsets(inputs: Inputs, looks: Mapping[str, Look], scale: Scale) -> str:
    clear = standing(scale, looks).clear
    ran = "" if inputs.imported else "; every agent ran at exactly the labelled budgets"
    if not inputs.imported and not scale.all_labelled:
        ran = "; every agent ran at exactly the budgets of the ticks"
    each = "each" if len(looks) == len(inputs.agents) else "each coloured one"
    if clear:
        return f"Points are offset sideways: {each} is seen, some touch or overlap in part{ran}."
    return (
        f"Points are offset sideways as far as there is room; at close budgets some hide others"
        f"{ran}."
    )
