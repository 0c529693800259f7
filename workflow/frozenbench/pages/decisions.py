"""The decision table: which budget to freeze and which metric to lead with, by question.

Each answer is read from the tables, or says why it cannot be. Nothing here is a test of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from frozenbench.controls import is_imported
from frozenbench.pages.blocks import (
    Block,
    Cell,
    Lines,
    Paragraph,
    code,
    count,
    interval,
    listed,
    percent,
    plain,
    table,
)
from frozenbench.pages.inputs import PageInputs, Row
from frozenbench.stats.flips import ladders

#: Agents or pairs that one answer names; the rest is counted.
_NAMED = 6
#: An agent of whose cells a cap ends this share or more is not asked whether it invents names.
_BLIND = 0.5
_GHOSTS = ("ghost_import", "ghost_name")

QUESTIONS = {
    "a_vs_b": "Which of two agents is better?",
    "solves_at_all": "Can it solve such tasks at all?",
    "invents_apis": "Does it invent modules or names?",
    "overnight": "What is there after a night alone?",
}
_METRICS = {
    "a_vs_b": "difference of `weighted_pass_rate`, exact paired test, Holm over all pairs and budgets",
    "solves_at_all": "`weighted_pass_rate` with its interval, `exhaust_rate` beside it",
    "invents_apis": "`assume_rate` with its reasons",
    "overnight": "`weighted_pass_rate` and `error_rate`, tokens for each PASS beside them",
}
_HEAD = ("question", "budget to freeze", "metric to lead with", "what these data say")


class Ladder:
    """The longest ladder of a view, and the first slice's numbers on it."""

    def __init__(self, inputs: PageInputs) -> None:
        budgets = {name: inputs.controls["budgets"][name] for name in inputs.view["budgets"]}
        found = ladders(budgets, inputs.view["budget_axis"])
        longest = max(found, key=lambda ladder: len(ladder.budgets))
        self.budgets, self.name = longest.budgets, longest.name
        self.others = [name for name in budgets if name not in self.budgets]
        self.slice = inputs.slices[0]
        self.agents = tuple(inputs.view["agents"])
        self.points = {
            (row["agent"], row["budget"]): row
            for row in inputs.summary
            if row["slice"] == self.slice
        }
        self.inputs = inputs

    @property
    def largest(self) -> str:
        """The budget with the largest cap."""
        return self.budgets[-1]

    @property
    def largest_told(self) -> str:
        """The budget with the largest cap, and that it is."""
        return f"{code(self.largest)}, the {'only one' if len(self.budgets) == 1 else 'largest'}"

    @property
    def n(self) -> str:
        """The number of tasks in words."""
        return f"n = {count(self.inputs.facts(self.slice)['n_tasks'], 'task')}"

    def at(self, budget: str) -> list[Row]:
        """Return the agents' rows under a budget, best first, ties in the config's order."""
        rows = [self.points[agent, budget] for agent in self.agents]
        return sorted(rows, key=lambda row: -(row["weighted_pass_rate"] or 0.0))

    def cells(self, agent: str, budget: str) -> list[Row]:
        """Return the agent's cells under a budget that are in its rates."""
        return self.inputs.cells_of(self.slice, agent, budget)

    def under(self, budgets: Sequence[str]) -> str:
        """Return some of the ladder's budgets in words; neighbours as a range."""
        places = sorted(self.budgets.index(name) for name in budgets)
        if len(places) == len(self.budgets) > 1:
            return f"all {len(places)} budgets"
        if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
            return f"{code(self.budgets[places[0]])} to {code(self.budgets[places[-1]])}"
        return listed([code(self.budgets[place]) for place in places])


def decisions(inputs: PageInputs) -> Iterator[Block]:
    """Yield the table, the question that the experiment asks on top."""
    ladder = Ladder(inputs)
    asked = inputs.view["question"]
    order = sorted(QUESTIONS, key=lambda name: name != asked)
    rows = [
        [f"**{QUESTIONS[name]}** (asked here)" if name == asked else QUESTIONS[name], *row]
        for name, row in ((name, _row(ladder, name)) for name in order)
    ]
    caption = "Question, budget to freeze, metric to lead with, answer"
    yield table(caption, _HEAD, rows, sortable=False, stacked=True)
    if ladder.others:
        yield Paragraph(
            f"Answers are of the longest ladder, {_span(ladder)}; not of "
            f"{listed([code(name) for name in ladder.others])}."
        )
    if inputs.slices != ["public"]:
        yield Paragraph(f"Answers are of the slice {ladder.slice}; slices are never pooled.")


def _span(ladder: Ladder) -> str:
    first, last = code(ladder.budgets[0]), code(ladder.largest)
    return first if first == last else f"{first} to {last}"


def _row(ladder: Ladder, question: str) -> tuple[Cell, Cell, Cell]:
    budget, lines = {
        "a_vs_b": _a_vs_b,
        "solves_at_all": _solves_at_all,
        "invents_apis": _invents_apis,
        "overnight": _overnight,
    }[question](ladder)
    return budget, _METRICS[question], Lines(tuple(lines))


def _named(parts: Sequence[str], where: str) -> Iterator[str]:
    """Yield the first parts, then how many more there are, and where they stand."""
    yield from parts[:_NAMED]
    if len(parts) > _NAMED:
        yield f"{len(parts) - _NAMED} more: {where}."


def _a_vs_b(ladder: Ladder) -> tuple[str, Iterator[str]]:
    several = len(ladder.budgets) > 1
    budget = f"each of {_span(ladder)}: the order may change" if several else ladder.largest_told
    return budget, _better(ladder)


def _better(ladder: Ladder) -> Iterator[str]:
    rows = [
        row
        for row in ladder.inputs.contrasts
        if row["slice"] == ladder.slice and row["budget"] in ladder.budgets
    ]
    pairs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        pairs.setdefault((row["agent_a"], row["agent_b"]), []).append(row)
    if not pairs:
        yield "Cannot be answered: there is one agent."
        return
    resolved = {
        pair: sure for pair, held in pairs.items() if (sure := [r for r in held if r["rejected"]])
    }
    if not resolved:
        yield from _unresolved(ladder, len(pairs))
        return
    flipped = [
        flip
        for flip in ladder.inputs.flips
        if (flip["slice"], flip["ladder"], flip["kind"]) == (ladder.slice, ladder.name, "confirmed")
    ]
    turned = {(flip["agent_a"], flip["agent_b"]) for flip in flipped}
    yield (
        f"Resolved under some budget: {len(resolved)} of {count(len(pairs), 'pair')}, {len(turned)} "
        f"by a confirmed flip; {ladder.n}."
    )
    told = [_flip(flip) for flip in sorted(flipped, key=lambda flip: not flip["lead"])]
    told += [_ahead(ladder, *pair, rows) for pair, rows in resolved.items() if pair not in turned]
    yield from _named(told, "`tables/contrasts.csv`")
    left = len(pairs) - len(resolved)
    if left:
        yield f"Cannot be answered for the other {'pair' if left == 1 else f'{left} pairs'}."


def _unresolved(ladder: Ladder, pairs: int) -> Iterator[str]:
    facts = ladder.inputs.facts(ladder.slice)
    told = "the pair is not" if pairs == 1 else f"none of {pairs} pairs is"
    where = "under any budget" if len(ladder.budgets) > 1 else "under this budget"
    yield f"Cannot be answered: {told} resolved {where}; {ladder.n}."
    if facts["n_for_80_power"] is not None:
        yield f"The clearest contrast would need {facts['n_for_80_power']:,} tasks for 80 % power."
    if facts["cannot_confirm"]:
        yield "This pack cannot confirm a flip."


def _flip(flip: Row) -> str:
    return (
        f"**It depends on the budget**: {plain(flip['old_leader'])} under "
        f"{code(flip['confirmed_from'])}, {plain(flip['new_leader'])} under "
        f"{code(flip['confirmed_to'])} (confirmed flip)."
    )


def _ahead(ladder: Ladder, first: str, second: str, rows: Sequence[Row]) -> str:
    parts = []
    for agent, other, sign in ((first, second, 1), (second, first, -1)):
        won = [row["budget"] for row in rows if row["delta"] * sign > 0]
        if won:
            parts.append(f"{plain(agent)} before {plain(other)} under {ladder.under(won)}")
    return "; ".join(parts) + "."


def _solves_at_all(ladder: Ladder) -> tuple[str, Iterator[str]]:
    return ladder.largest_told, _solved(ladder)


def _solved(ladder: Ladder) -> Iterator[str]:
    rows = ladder.at(ladder.largest)
    known = [row for row in rows if row["weighted_pass_rate"] is not None]
    if not known:
        yield "Cannot be answered: no cell is rated under it."
        return
    if any(row["weighted_pass_rate"] for row in known):
        yield f"With 95 % intervals; {ladder.n}:"
        yield from _named([_with_interval(row) for row in known], "see *Scores*")
    else:
        best = max(row["weighted_high"] or 0.0 for row in known)
        yield (
            f"No agent passes a task; {ladder.n}, and up to {100 * best:.0f} % fit these data (95 %)."
        )
    imported = is_imported(ladder.inputs.controls)
    most = max(known, key=lambda row: row["exhaust_rate"] or 0.0)
    if most["exhaust_rate"]:
        why = (
            "with more budget a rate can be higher"
            if not imported
            else "they used more, or ran out"
        )
        yield (
            f"EXHAUSTED: at most {percent(most['exhaust_rate'])}, of {plain(most['agent'])}; {why}."
        )
    if ladder.inputs.controls["grading"] == "every_step":
        yield "Graded at every step: an oracle stop, best of k."
    if imported:
        yield "Lower bounds: no budget was enforced."


def _with_interval(row: Row) -> str:
    ends = row["weighted_low"], row["weighted_high"]
    told = "" if None in ends else f" {interval(*ends)}"
    return f"{plain(row['agent'])} {percent(row['weighted_pass_rate'])}{told}"


def _invents_apis(ladder: Ladder) -> tuple[str, Iterator[str]]:
    def exhausted(budget: str) -> float:
        return sum(row["exhaust_rate"] or 0.0 for row in ladder.at(budget))

    least = min(ladder.budgets, key=exhausted)
    budget = f"{code(least)}, where the fewest cells are EXHAUSTED"
    return (ladder.largest_told if len(ladder.budgets) == 1 else budget), _invented(ladder, least)


def _invented(ladder: Ladder, budget: str) -> Iterator[str]:
    rows = [ladder.points[agent, budget] for agent in ladder.agents]
    known = [row for row in rows if row["assume_rate"] is not None]
    if not known:
        yield "Cannot be answered: a log does not tell which names an agent invented."
        return
    blind = [row for row in known if (row["exhaust_rate"] or 0.0) >= _BLIND]
    seen = sorted(
        (row for row in known if row not in blind), key=lambda row: -float(row["assume_rate"])
    )
    yield from _named([_ghosts(ladder, row) for row in seen], "see *Scores*")
    if blind:
        whom = [plain(row["agent"]) for row in blind]
        if len(whom) > _NAMED:
            whom = [*whom[:_NAMED], f"{len(whom) - _NAMED} more"]
        yield (
            f"Cannot be answered for {listed(whom)}: half of the cells or more are EXHAUSTED, and in "
            "those nobody looks for invented names."
        )


def _ghosts(ladder: Ladder, row: Row) -> str:
    cells = ladder.cells(row["agent"], row["budget"])
    assumed = sum(cell["outcome"] == "FAIL_ASSUME" for cell in cells)
    ghosts = sum(Counter(cell["reason"] for cell in cells)[name] for name in _GHOSTS)
    told = f"{plain(row['agent'])} {percent(row['assume_rate'])}: {assumed} of {len(cells)} cells"
    return f"{told}, {ghosts} with an invented name" if assumed else told


def _overnight(ladder: Ladder) -> tuple[str, Iterator[str]]:
    if is_imported(ladder.inputs.controls):
        return ladder.largest_told, iter(["Cannot be answered: no cap held these runs."])
    return ladder.largest_told, _nights(ladder)


def _nights(ladder: Ladder) -> Iterator[str]:
    yield f"`weighted_pass_rate`, and the tokens of all cells for each PASS; {ladder.n}:"
    yield from _named([_night(ladder, row) for row in ladder.at(ladder.largest)], "see *Scores*")


def _night(ladder: Ladder, row: Row) -> str:
    cells = ladder.cells(row["agent"], ladder.largest)
    passed = sum(cell["outcome"] == "PASS" for cell in cells)
    told = f"{plain(row['agent'])} {percent(row['weighted_pass_rate'])}"
    if row["error_rate"]:
        told += f", {percent(row['error_rate'])} ERROR"
    told += f", {_tokens(row, passed)}"
    clock = sum(cell["cap_hit"] == "wall_clock" for cell in cells)
    return f"{told}, the clock fell in {count(clock, 'cell')}" if clock else told


def _tokens(row: Row, passed: int) -> str:
    if not passed:
        return "no PASS to share its tokens among"
    if row["tokens_missing"] or row["total_tokens"] is None:
        return "tokens not known"
    return f"{row['total_tokens'] / passed:,.0f} tokens"
