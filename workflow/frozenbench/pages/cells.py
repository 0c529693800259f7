"""The cells that decided a ranking flip: which they are, and how each task counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from frozenbench.pages.blocks import (
    Block,
    Cell,
    Paragraph,
    Stories,
    Subheading,
    code,
    count,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs, Row

#: Crossings whose cells are listed, and tasks listed of each.
_CROSSINGS, _TASKS = 4, 24

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
        yield Paragraph(_nothing(inputs))
        return
    kind = found[0].flip["kind"]
    if kind == "unresolved":
        yield Paragraph(
            "No flip is confirmed or suggestive, so no cell decided one. Below is the crossing with "
            "the most support, to be read: it decides nothing."
        )
    of = sum(flip["kind"] == kind for flip in inputs.flips)
    if kind != "unresolved" and of > len(found):
        yield Paragraph(
            f"{len(found)} of {of} {kind} flips, flips of the lead first; the others stand above."
        )
    for crossing in found:
        yield from _crossing(crossing, inputs.several)
    if inputs.stories:
        yield Subheading("Step by step")
        yield Paragraph(
            "Of each: the clearest task that speaks for the agent ahead before, and the clearest for "
            "the one after; both agents under both budgets. What a program printed and how long it "
            "took is left out; `frozenbench show` has it (with `--config FILE` where this is not the "
            "experiment of `config/config.yaml`)."
        )
        yield Stories(tuple(inputs.stories))


def _nothing(inputs: PageInputs) -> str:
    if len(inputs.view["agents"]) == 1:
        return "There is one agent: no cell decided between two."
    return "No two agents cross on a ladder: no cell decided a flip."


def _crossing(crossing: Deciding, several: bool) -> Iterator[Block]:
    flip, (old, new) = crossing.flip, map(plain, crossing.agents)
    before, after = crossing.before, crossing.after
    told = f", slice {flip['slice']}" if several else ""
    yield Subheading(
        f"{old} under {plain(before)}, {new} under {plain(after)}: {_WORDS[flip['kind']]}{told}"
    )
    totals = [[crossing.scores[task][side] for task in crossing.tasks] for side in (0, 1)]
    counts = [(sum(s > 0 for s in side), sum(s < 0 for s in side)) for side in totals]
    yield Paragraph(
        f"Of {count(len(crossing.scores), 'task')}, under {code(before)} {counts[0][0]} "
        f"{_speak(counts[0][0])} for {old} and {counts[0][1]} for {new}; under {code(after)} "
        f"{counts[1][1]} for {old} and {counts[1][0]} for {new}. Tasks on which the two do equally "
        "well under both budgets are left out: they count for nothing."
    )
    head = [f"{agent}, {code(budget)}" for budget in (before, after) for agent in (old, new)]
    rows = [_task_row(crossing, task) for task in crossing.tasks[:_TASKS]]
    caption = f"Tasks that tell {old} and {new} apart under {plain(before)} or {plain(after)}{told}"
    yield table(caption, ["task", "weight", *head, "speaks for"], rows)
    if len(crossing.tasks) > _TASKS:
        yield Paragraph(
            f"These are the clearest {_TASKS} of {len(crossing.tasks)} tasks; all stand in "
            "`cells.parquet`."
        )


def _speak(tasks: int) -> str:
    return "speaks" if tasks == 1 else "speak"


def _task_row(crossing: Deciding, task: str) -> list[Cell]:
    old, new = crossing.agents
    places = [(a, b) for b in (crossing.before, crossing.after) for a in (old, new)]
    cells = [crossing.cells[agent, budget, task] for agent, budget in places]
    held_out = cells[0][0]["split"] == "held_out"
    name = code(str(cells[0][0]["task_digest"])[:12]) if held_out else plain(task)
    outcomes = [_outcomes(rows) for rows in cells]
    return [name, cells[0][0]["weight"], *outcomes, _speaks_for(crossing, *crossing.scores[task])]


def _speaks_for(crossing: Deciding, first: int, last: int) -> str:
    """Return who did better on a task, and under which budget; the scores are as in `scores`."""
    old, new = crossing.agents
    sides = [((old, new)[first < 0], crossing.before)] if first else []
    sides += [((new, old)[last < 0], crossing.after)] if last else []
    if len(sides) == 2 and sides[0][0] == sides[1][0]:
        return f"{plain(sides[0][0])} under both"
    return ", ".join(f"{plain(agent)} under {plain(budget)}" for agent, budget in sides)


def _outcomes(rows: Sequence[Row]) -> str:
    found = [str(row["outcome"]) for row in rows]
    if len(set(found)) == 1:
        return found[0]
    return ", ".join(f"{found.count(name)} {name}" for name in dict.fromkeys(sorted(found)))
