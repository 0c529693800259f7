"""The cells that decided a ranking flip: which they are, and how each task counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from frozenbench.pages.blocks import Block, Cell, Paragraph, Stories, Subheading, table
from frozenbench.pages.inputs import PageInputs, Row

#: Crossings whose cells are listed, and tasks listed of each.
_CROSSINGS, _TASKS = 4, 40

_WORDS = {
    "confirmed": "confirmed flip",
    "suggestive": "suggestive flip",
    "unresolved": "unresolved crossing",
}


@dataclass(frozen=True)
class Deciding:
    """One crossing and the tasks that speak for either side of it, the clearest first."""

    flip: Row
    before: str
    after: str
    tasks: tuple[str, ...]
    scores: Mapping[str, tuple[int, int]]
    cells: Mapping[tuple[str, str, str], tuple[Row, ...]]

    @property
    def agents(self) -> tuple[str, str]:
        """Who leads before, and who after."""
        return self.flip["old_leader"], self.flip["new_leader"]

    def read(self) -> Iterator[Row]:
        """Yield the cells that are to be read step by step: one repeat of each.

        Of two tasks: the clearest that speaks for the leader before, and for the one after.
        """
        sides = [[t for t in self.tasks if self.scores[t][side] > 0][:1] for side in (0, 1)]
        for task in dict.fromkeys(task for side in sides for task in side):
            for budget in (self.before, self.after):
                for agent in self.agents:
                    yield self.cells[agent, budget, task][0]


def deciding(inputs: PageInputs) -> list[Deciding]:
    """Return the crossings whose cells are shown: those that are strongest in kind.

    Confirmed flips, lead flips first; where there is none the suggestive ones; else the crossing
    with the most support, so that there is something to read, and the page says that it decides
    nothing.
    """
    strength = {"confirmed": 0, "suggestive": 1, "unresolved": 2}
    if not inputs.flips:
        return []
    best = min(strength[flip["kind"]] for flip in inputs.flips)
    found = [flip for flip in inputs.flips if strength[flip["kind"]] == best]
    found.sort(key=lambda flip: (not flip["lead"], -(flip["support"] or 0.0)))
    return [_deciding(inputs, flip) for flip in found[: _CROSSINGS if best < 2 else 1]]


def _deciding(inputs: PageInputs, flip: Row) -> Deciding:
    before = flip["confirmed_from"] or flip["budget_from"]
    after = flip["confirmed_to"] or flip["budget_to"]
    old, new = flip["old_leader"], flip["new_leader"]
    cells: dict[tuple[str, str, str], tuple[Row, ...]] = {}
    weights: dict[str, int] = {}
    for agent, budget in ((old, before), (new, before), (old, after), (new, after)):
        for row in inputs.cells_of(flip["slice"], agent, budget):
            key = (agent, budget, row["task"])
            cells[key] = (*cells.get(key, ()), row)
            weights[row["task"]] = row["weight"]

    def passed(agent: str, budget: str, task: str) -> int:
        return sum(row["outcome"] == "PASS" for row in cells[agent, budget, task])

    scores = {
        task: (
            weight * (passed(old, before, task) - passed(new, before, task)),
            weight * (passed(new, after, task) - passed(old, after, task)),
        )
        for task, weight in weights.items()
    }
    spoken = [task for task, pair in scores.items() if any(pair)]
    # The order turns by the sum of both scores over all tasks; a task that speaks for the same agent
    # twice adds nothing to it.
    spoken.sort(key=lambda task: (-sum(scores[task]), -min(scores[task]), task))
    return Deciding(flip, before, after, tuple(spoken), scores, cells)


def told_cells(inputs: PageInputs) -> Iterator[Block]:
    """Yield the section: the tasks of each crossing, then some of their cells step by step."""
    found = deciding(inputs)
    if not found:
        yield Paragraph("No two agents cross: no cell decided a flip.")
        return
    if found[0].flip["kind"] == "unresolved":
        yield Paragraph(
            "No flip is confirmed or suggestive, so no cell decided one. Below is the crossing with "
            "the most support, to be read: it decides nothing."
        )
    for crossing in found:
        yield from _crossing(crossing)
    if inputs.stories:
        yield Subheading("Step by step")
        yield Paragraph(
            "Of each: the clearest task that speaks for the leader before, and the clearest for the "
            "one after; both agents under both budgets. What a program printed and how long it took "
            "is left out; `frozenbench show` has it."
        )
        yield Stories(tuple(inputs.stories))


def _crossing(crossing: Deciding) -> Iterator[Block]:
    flip, (old, new) = crossing.flip, crossing.agents
    before, after = crossing.before, crossing.after
    yield Subheading(f"{old} under {before}, {new} under {after}: {_WORDS[flip['kind']]}")
    totals = [[crossing.scores[task][side] for task in crossing.tasks] for side in (0, 1)]
    counts = [(sum(s > 0 for s in side), sum(s < 0 for s in side)) for side in totals]
    yield Paragraph(
        f"Under `{before}`, {counts[0][0]} tasks speak for {old} and {counts[0][1]} for {new}; under "
        f"`{after}`, {counts[1][1]} for {old} and {counts[1][0]} for {new}. Tasks on which the two do "
        "equally well under both budgets are left out: they count for nothing."
    )
    head = ["task", "weight", f"{old}, {before}", f"{new}, {before}", f"{old}, {after}"]
    rows = [_task_row(crossing, task) for task in crossing.tasks[:_TASKS]]
    caption = f"Tasks that tell {old} and {new} apart under {before} or {after}"
    yield table(caption, [*head, f"{new}, {after}", "speaks for"], rows)
    if len(crossing.tasks) > _TASKS:
        yield Paragraph(
            f"These are the clearest {_TASKS} of {len(crossing.tasks)} tasks; all stand in "
            "`cells.parquet`."
        )


def _task_row(crossing: Deciding, task: str) -> list[Cell]:
    old, new = crossing.agents
    places = [(a, b) for b in (crossing.before, crossing.after) for a in (old, new)]
    cells = [crossing.cells[agent, budget, task] for agent, budget in places]
    first, last = crossing.scores[task]
    sides = [f"{(old, new)[score < 0]} under {crossing.before}" for score in (first,) if score] + [
        f"{(new, old)[score < 0]} under {crossing.after}" for score in (last,) if score
    ]
    held_out = cells[0][0]["split"] == "held_out"
    name = f"`{str(cells[0][0]['task_digest'])[:12]}`" if held_out else task
    outcomes = [_outcomes(rows) for rows in cells]
    return [name, cells[0][0]["weight"], *outcomes, ", ".join(sides)]


def _outcomes(rows: Sequence[Row]) -> str:
    found = [str(row["outcome"]) for row in rows]
    if len(set(found)) == 1:
        return found[0]
    return ", ".join(f"{found.count(name)} {name}" for name in dict.fromkeys(sorted(found)))
