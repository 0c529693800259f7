"""What was found of ranking flips, in a sentence or two: the same on the page and in a write-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenbench.number_text import count
from frozenbench.stats.flips import ladders

Facts = Mapping[str, Any]


def headline(facts: Facts, controls: Facts, view: Facts) -> str:
    """Return what was found of flips in one slice; `facts` are those of the slice (statistics.json).

    One agent is compared with nobody, and where no ladder has two budgets no ranking can flip.
    """
    if not facts["pairs"]:
        return "There is one agent: no ranking, and no flip of one."
    if len(view["budgets"]) == 1:
        return "There is one budget: no ranking can flip."
    if not has_ladder(controls, view):
        return "No two budgets lie on one ladder: no ranking can flip here."
    told = _found(facts)
    if facts["cannot_confirm"]:
        told += f" {_few(facts, 'too few')}: this pack cannot confirm a flip."
    elif facts["few_tasks"]:
        told += f" {_few(facts, 'few')}: {first_step(facts)}."
    return told


def first_step(facts: Facts) -> str:
    """Return what Holm's first step asks for, as a clause."""
    tasks = count(facts["min_discordant"], "discordant task")
    return f"Holm's first step takes {tasks} if all fall one way, else more"


def _few(facts: Facts, few: str) -> str:
    tasks, tests = facts["n_tasks"], facts["contrasts"]
    are = "is" if tasks == 1 else "are"
    return f"{count(tasks, 'task')} {are} {few} for {count(tests, 'contrast')}"


def has_ladder(controls: Facts, view: Facts) -> bool:
    """Tell whether two budgets differ in the axis cap alone."""
    budgets = {name: controls["budgets"][name] for name in view["budgets"]}
    found = ladders(budgets, view["budget_axis"])
    return any(len(ladder.budgets) > 1 for ladder in found)


def _found(facts: Facts) -> str:
    pairs, confirmed, suggestive = (
        facts[name] for name in ("pairs", "confirmed_pairs", "suggestive_pairs")
    )
    if pairs == 1:
        kinds = [("a confirmed", confirmed), ("a suggestive", suggestive)]
        kind = next((kind for kind, number in kinds if number), "no confirmed and no suggestive")
        return f"The two agents have {kind} ranking flip."
    if not confirmed and not suggestive:
        return (
            f"No ranking flip is confirmed and none is suggestive, among {pairs} pairs of agents."
        )
    if not suggestive:
        return (
            f"{confirmed} of {pairs} pairs of agents {_have(confirmed)} a confirmed ranking flip."
        )
    return (
        f"{confirmed or 'None'} of {pairs} pairs of agents {_have(confirmed or 1)} a confirmed "
        f"ranking flip, {suggestive} {_have(suggestive)} a suggestive one alone."
    )


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
