"""The words of `budget_curves`: its title, the computed finding, and the note below."""

from __future__ import annotations

from collections.abc import Mapping

from frozenbench.figures import import_box, rings
from frozenbench.figures.inputs import Inputs, Rung
from frozenbench.figures.leads import LeadSpan
from frozenbench.figures.marks import standing
from frozenbench.figures.scale import Scale
from frozenbench.figures.style import Look

_BUDGETS = {
    "max_tool_calls": "tool-call budget",
    "max_edit_rounds": "edit-round budget",
    "max_tokens": "token budget",
    "max_seconds": "wall-clock budget",
}


def title(inputs: Inputs) -> str:
    """Return the neutral title: it names the measure."""
    if inputs.imported:
        return import_box.title(inputs)
    kind = "against" if len(inputs.rungs) > 1 else "under one"
    return f"Pass rate {kind} {_BUDGETS[inputs.axis]}"


def finding(inputs: Inputs) -> str:
    """Return the computed finding and what the bars are."""
    bars = f"Bars: 95\u00a0% Wilson intervals of each rate over {len(inputs.tasks)} tasks."
    return " ".join([flips_found(inputs), *leads_found(inputs), bars])


def leads_found(inputs: Inputs) -> list[str]:
    """Return who leads under the smallest and the largest budget, and from how many it is resolved."""
    ends = inputs.rungs if len(inputs.rungs) < 3 else (inputs.rungs[0], inputs.rungs[-1])
    return [told for rung in ends if (told := _lead(inputs, rung))]


def _lead(inputs: Inputs, rung: Rung) -> str:
    leaders, others = inputs.leaders(rung), len(inputs.agents) - 1
    if not leaders or not others:
        return ""
    where = "With no cap" if rung.cap is None else f"At {rung.label}"
    if len(leaders) > others:
        return f"{where} all tie."
    if len(leaders) > 2:
        return f"{where} {len(leaders)} agents tie for the lead."
    if len(leaders) == 2:
        return f"{where} {' and '.join(leaders)} tie for the lead."
    [leader] = leaders
    told = sum((leader, other, rung.name) in inputs.rejected for other in inputs.agents)
    if others == 1:
        return f"{where} {leader} leads, {'resolved' if told else 'not resolved'}."
    if told in (0, others):
        of = "resolved from every other" if told else "not resolved from any other"
        return f"{where} {leader} leads, {of}."
    return f"{where} {leader} leads, resolved from {told} of {others} others."


def flips_found(inputs: Inputs) -> str:
    """Return how many pairs of agents flip, confirmed first."""
    need = inputs.facts.need
    pairs = int(need("pairs"))
    among = f"{pairs} pair{'' if pairs == 1 else 's'}"
    if not pairs:
        return "One agent: there is no pair to compare."
    if len(inputs.rungs) == 1:
        return f"{inputs.resolved_pairs} of {among} resolved at this budget (one budget: no flips)."
    return (
        f"{need('confirmed_pairs')} confirmed, {need('suggestive_pairs')} suggestive flips "
        f"among {among}."
    )


def notes(
    inputs: Inputs, looks: Mapping[str, Look], scale: Scale, spans: list[LeadSpan]
) -> list[str]:
    """Return what the marks mean, sentence by sentence; only of what is drawn."""
    found = _tests(inputs)
    if spans:
        found.append(
            "Tinted: rank 1 flips, between the budgets where the old and the new order are "
            "resolved; other changes of rank 1 are not."
        )
    if len(looks) > 1:
        found.append(_offsets(inputs, looks, scale))
    if len(looks) < len(inputs.agents):
        source = "logs" if inputs.imported else "config"
        rule = f"who leads under some budget, then the first of the {source}"
        chosen = "chosen by focus" if inputs.view.get("focus") else rule
        _, more = rings.ringed_flips(inputs, looks)
        found.append(
            f"Coloured: {chosen}; pale: the other {len(inputs.agents) - len(looks)}, named in c."
        )
        if more:
            found.append(
                f"Rings stand at flips of coloured agents; {more} more are in tables/flips.csv."
            )
    if "no cap" in scale.labels and len(scale.labels) > 1:
        found.append("“no cap” has no place on the scale; it stands at the right end.")
    return found


def _tests(inputs: Inputs) -> list[str]:
    """Return what makes a flip, and what does not."""
    need = inputs.facts.need
    alpha, contrasts, resamples = need("alpha"), need("contrasts"), need("resamples")
    if not int(need("pairs")):
        return []
    if len(inputs.rungs) > 1:
        found = [
            f"○ confirmed flip: exact paired test under both budgets, Holm over {contrasts} contrasts, "
            f"α = {alpha:g}; ◌ suggestive: support (share of {resamples} resamples of tasks in "
            "which both signs are as observed) ≥ 0.95. A ring stands at each such crossing, so that "
            "a pair can have several; unringed ones are not resolved."
        ]
    else:
        found = [f"Resolved: exact paired test, Holm over {contrasts} contrasts, α = {alpha:g}."]
    if need("cannot_confirm"):
        found.append(
            f"This pack cannot confirm a flip: a contrast needs {need('min_discordant')} "
            "discordant tasks, all one way."
        )
    found.append("Overlap of two bars is not the test.")
    return found


def _offsets(inputs: Inputs, looks: Mapping[str, Look], scale: Scale) -> str:
    clear = standing(scale, looks).clear
    ran = "" if inputs.imported else "; every agent ran at exactly the labelled budgets"
    if not inputs.imported and not scale.all_labelled:
        ran = "; every agent ran at exactly the budgets of the ticks"
    if clear:
        return f"Points are offset sideways so that each is seen{ran}."
    return (
        f"Points are offset sideways as far as there is room; at close budgets some hide others"
        f"{ran}."
    )
